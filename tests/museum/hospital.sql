-- What the museum adds to the reported cases' database: empty places, dead columns, a visit's cost.
CREATE TABLE note (note_id BIGINT, person_id BIGINT, note_date DATE, note_text VARCHAR);
CREATE TABLE cost (cost_id BIGINT, cost_event_id BIGINT, total_charge DOUBLE);
ALTER TABLE person ADD COLUMN race_concept_id INTEGER DEFAULT 0;
ALTER TABLE measurement ADD COLUMN operator_concept_id INTEGER;
ALTER TABLE visit_occurrence ADD COLUMN visit_cost DOUBLE;
UPDATE visit_occurrence SET visit_cost = 10.0 * visit_occurrence_id;
INSERT INTO drug_exposure VALUES (8, 2, 1112807, '2020-01-15', '2020-01-20', 5, 5);
INSERT INTO condition_occurrence VALUES (12, 4, 201826, '2020-06-16', 4242, '250.00'),
  (13, 5, 201820, '2020-02-01', 8, '250.0');
-- A second product of an ingredient, a concept with and one without something, the source's own sexes.
ALTER TABLE person ADD COLUMN gender_source_value VARCHAR;
UPDATE person SET gender_source_value = CASE gender_concept_id WHEN 8532 THEN 'F' ELSE 'M' END;
INSERT INTO concept VALUES
  (40163924, 'metformin hydrochloride 850 MG Oral Tablet', 'Drug', 'RxNorm', '861025', 'S'),
  (4225115, 'Migraine with aura', 'Condition', 'SNOMED', '4473006', 'S'),
  (4178121, 'Migraine without aura', 'Condition', 'SNOMED', '56097005', 'S');
INSERT INTO concept_ancestor VALUES (1503297, 40163924, 2), (40163924, 40163924, 0);
INSERT INTO drug_exposure VALUES (9, 3, 40163924, '2020-03-02', '2020-03-11', 10, 10);
INSERT INTO condition_occurrence VALUES (14, 1, 4225115, '2020-02-10', 2, '346.00'),
  (15, 3, 4178121, '2020-06-15', 6, '346.10');
ALTER TABLE person ADD COLUMN location_id INTEGER;
