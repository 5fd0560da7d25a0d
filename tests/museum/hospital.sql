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
