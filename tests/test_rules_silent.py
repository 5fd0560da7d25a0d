"""Right references that the gate must stay silent on, and near ones that it must still see."""

from dataclasses import dataclass

import pytest

from database.engine import open_database
from items.checks import Ground, check
from tests.gate import FIXTURE_TODAY, TODAY, build_fixture, item, strong


@dataclass(frozen=True)
class Asked:
    """A question in both languages, its reference, and the rules that may have something to say."""

    english: str
    korean: str
    sql: str
    hospital: bool = False  # Eunomia in place of the small database
    rules: frozenset[str] = frozenset()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = build_fixture(tmp_path_factory.mktemp("silent") / "fixture.duckdb")
    with open_database(path) as database:
        yield Ground(database, FIXTURE_TODAY)


@pytest.fixture(scope="module")
def hospital(eunomia):
    with open_database(eunomia) as database:
        yield Ground(database, TODAY)


def found(asked: Asked, small: Ground, hospital: Ground) -> set[str]:
    made = item(asked.sql, asked.english, question_ko=asked.korean)
    return strong(check(made, hospital if asked.hospital else small))


OWN_MEAN = (
    "SELECT AVG(own) AS mean FROM (SELECT person_id, AVG(value_as_number) AS own FROM measurement "
    "WHERE measurement_concept_id = 3004410 AND unit_concept_id = 8554 AND value_as_number IS NOT NULL "
    "GROUP BY person_id) AS each"
)
ALL_THREE = (
    "SELECT count(*) AS patients FROM (SELECT person_id FROM condition_occurrence GROUP BY person_id "
    "HAVING bool_or(condition_concept_id = 372328) AND bool_or(condition_concept_id = 28060) "
    "AND bool_or(condition_concept_id = 260139)) t"
)
DIAGNOSES = (
    "SELECT v.visit_occurrence_id, (SELECT COUNT(*) FROM condition_occurrence c "
    "WHERE c.visit_occurrence_id = v.visit_occurrence_id) AS diagnoses FROM visit_occurrence v"
)
VISITS_FILLED = (
    "SELECT p.person_id, COALESCE(n.visits, 0) AS visits FROM person p LEFT JOIN (SELECT person_id, "
    "COUNT(*) AS visits FROM visit_occurrence GROUP BY person_id) n USING (person_id)"
)
SILENT = [
    pytest.param(
        Asked("As of today, how many people have reached the age of 50?",
              "오늘을 기준으로 만 50세가 된 사람은 몇 명인가요?",
              "SELECT COUNT(*) FROM person WHERE birth_date <= DATE '1970-12-31'"),
        id="a birthday that lies as far back as the age says",
    ),
    pytest.param(
        Asked("As of today, who is younger than 40?", "오늘 기준으로 만 40세 미만인 사람은 누구인가요?",
              "SELECT person_id FROM person WHERE birth_date > DATE '1980-12-31'"),
        id="a birthday after that day",
    ),
    pytest.param(
        Asked("Show each visit with the number of diagnoses made during it; those with none show 0.",
              "방문마다 그 방문에서 내려진 진단 수를 보여 주세요. 진단이 없는 방문은 0으로 표시합니다.",
              DIAGNOSES),
        id="the zero that the question speaks of",
    ),
    pytest.param(
        Asked("For each person, how many visits are there? Those without any visit show 0.",
              "사람마다 방문은 몇 건인가요? 방문이 없는 사람은 0으로 표시합니다.", VISITS_FILLED),
        id="counts that an outer join adds to everybody",
    ),
    pytest.param(
        Asked("How many patients have had all three of these: otitis media, streptococcal sore throat "
              "and acute bronchitis?",
              "중이염, 연쇄구균 인후염, 급성 기관지염 세 가지를 모두 앓은 환자는 몇 명인가요?",
              ALL_THREE, hospital=True),
        id="three things in three conditions",
    ),
    pytest.param(
        Asked("What is the mean of the persons' own mean A1c (percent), recorded values only?",
              "사람마다 당화혈색소(%, 기록된 값만) 평균을 먼저 구한 뒤, 그 평균들의 평균을 내면 얼마인가요?",
              OWN_MEAN),
        id="a mean of means that is asked for",
    ),
    pytest.param(
        Asked("List every person who died along with the earliest death date on file.",
              "사망한 사람마다 기록된 가장 이른 사망일을 보여 주세요.",
              "SELECT person_id, min(death_date) AS death_date FROM death GROUP BY person_id"),
        id="every person who has it",
    ),
    pytest.param(
        Asked("By decade of birth, how many patients are there?",
              "출생 연대(10년 단위)별로 환자는 몇 명인가요?",
              "SELECT year_of_birth // 10 * 10 AS decade, count(*) AS patients FROM person GROUP BY 1"),
        id="a decade is ten years",
    ),
    pytest.param(
        Asked("Which visits began within two weeks before 15 June 2020?",
              "2020년 6월 15일 전 14일 안에 시작된 방문은 어느 것인가요?",
              "SELECT visit_occurrence_id FROM visit_occurrence WHERE visit_start_date "
              "BETWEEN DATE '2020-06-01' AND DATE '2020-06-15'"),
        id="two weeks are fourteen days",
    ),
    pytest.param(
        Asked("Which visits lasted past midnight, open ones left out?",
              "아직 끝나지 않은 방문을 제외하고, 자정을 넘긴 방문은 어느 것인가요?",
              "SELECT visit_occurrence_id FROM visit_occurrence WHERE visit_end_date > visit_start_date"),
        id="open ones that the question leaves out",
    ),
    pytest.param(
        Asked("Name the condition concepts that nobody has been diagnosed with.",
              "아무도 진단받지 않은 질환 개념의 이름을 알려 주세요.",
              "SELECT c.concept_name FROM concept c LEFT JOIN condition_occurrence co "
              "ON co.condition_concept_id = c.concept_id WHERE c.domain_id = 'Condition' "
              "AND co.condition_occurrence_id IS NULL"),
        id="nobody is a negation",
    ),
    pytest.param(
        Asked("What fraction of all drug records belongs to women?",
              "전체 약물 기록 가운데 여성의 기록이 차지하는 비율은 얼마인가요?",
              "SELECT avg(CASE p.gender_concept_id WHEN 8532 THEN 1.0 ELSE 0 END) AS fraction "
              "FROM drug_exposure de JOIN person p ON p.person_id = de.person_id", hospital=True),
        id="a share of records by what their person is",
    ),
    pytest.param(
        Asked("How many visits started in each month of 2020 that had any?",
              "2020년에 방문이 있었던 달마다 시작된 방문은 몇 건인가요?",
              "SELECT strftime(visit_start_date, '%Y-%m') AS month, COUNT(*) AS visits "
              "FROM visit_occurrence WHERE YEAR(visit_start_date) = 2020 GROUP BY 1"),
        id="the months that have something",
    ),
    pytest.param(
        Asked("Leaving out records with a days supply of zero, what is the mean days supply? Two decimals.",
              "투약 일수(days_supply)가 0인 기록을 빼면 평균 투약 일수는 며칠인가요? "
              "소수 둘째 자리까지 알려 주세요.",
              "SELECT round(avg(nullif(days_supply, 0)), 2) AS mean_days FROM drug_exposure", hospital=True),
        id="NULLIF leaves zeros out",
    ),
    pytest.param(
        Asked("How many women had a concussion with loss of consciousness before the year 2000?",
              "2000년 이전에 의식 소실을 동반한 뇌진탕을 겪은 여성은 몇 명인가요? "
              "(2000년은 포함하지 않습니다)",
              "SELECT count(DISTINCT co.person_id) AS women FROM condition_occurrence co JOIN person p "
              "USING (person_id) WHERE co.condition_concept_id = 375671 AND p.gender_concept_id = 8532 "
              "AND co.condition_start_date < DATE '2000-01-01'", hospital=True),
        id="a limit that the Korean question spells out",
    ),
    pytest.param(
        Asked("How many cystitis diagnoses lasted at least 2 weeks from start to end?",
              "시작일부터 종료일까지 2주 이상 지속된 방광염 진단은 몇 건인가요?",
              "SELECT count(*) AS diagnoses FROM condition_occurrence WHERE condition_concept_id = 195588 "
              "AND condition_end_date - condition_start_date >= 14", hospital=True),
        id="a length from start to end has an end",
    ),
    pytest.param(
        Asked("How many patients were born in each decade (1900s, 1910s and so on)? Give the first year of "
              "the decade and the number of patients.",
              "10년 단위 출생 연대(1900년대, 1910년대 등)별 환자 수를 연대의 첫해와 함께 보여 주세요.",
              "SELECT year_of_birth // 10 * 10 AS decade, count(*) AS patients FROM person GROUP BY decade",
              hospital=True),
        id="decades as examples",
    ),
    pytest.param(
        Asked("How many condition, drug and procedure records are there? Show every one of the three "
              "tables.",
              "진단, 약물, 처치 기록은 각각 몇 건인가요? 세 테이블을 모두 보여 주세요.",
              "SELECT 'condition' AS kind, count(*) AS records FROM condition_occurrence UNION ALL "
              "SELECT 'drug', count(*) FROM drug_exposure UNION ALL "
              "SELECT 'procedure', count(*) FROM procedure_occurrence", hospital=True),
        id="a number of tables",
    ),
    pytest.param(
        Asked("For each stay of patient 2894, how many days passed since the discharge before it? Show "
              "admission date and days, empty for the first.",
              "환자 2894번의 입원마다 입원일과 직전 퇴원 이후 지난 일수를 보여 주세요. "
              "첫 입원은 비워 둡니다.",
              "SELECT visit_start_date, visit_start_date - lag(visit_end_date) OVER (ORDER BY "
              "visit_start_date, visit_occurrence_id) AS days FROM visit_occurrence WHERE person_id = 2894",
              hospital=True),
        id="the first has none before it",
    ),
    pytest.param(
        Asked("Which conditions has patient 1382 had? Each name once, as one text in alphabetical order.",
              "환자 1382번에게 기록된 진단명을 중복 없이 알파벳 순으로 이어 한 줄로 보여 주세요.",
              "SELECT string_agg(DISTINCT c.concept_name, ', ' ORDER BY c.concept_name) AS conditions "
              "FROM condition_occurrence AS co JOIN concept AS c ON c.concept_id = co.condition_concept_id "
              "WHERE co.person_id = 1382", hospital=True),
        id="once each, without repeats",
    ),
    pytest.param(
        Asked("Which condition has the fewest patients of those recorded? If several share the lowest "
              "number, show each of them with the number.",
              "기록된 질환 가운데 환자 수가 가장 적은 질환은 무엇인가요? "
              "동률이면 모두 환자 수와 함께 보여 주세요.",
              "WITH n AS (SELECT c.concept_name AS condition, count(DISTINCT co.person_id) AS patients "
              "FROM condition_occurrence AS co JOIN concept AS c ON c.concept_id = co.condition_concept_id "
              "GROUP BY c.concept_id, c.concept_name) SELECT condition, patients FROM n "
              "WHERE patients = (SELECT min(patients) FROM n)", hospital=True),
        id="several share the lowest number",
    ),
    pytest.param(
        Asked("How many patients have had allergic rhinitis of either perennial kind (perennial, or "
              "perennial with seasonal variation)?",
              "통년성 알레르기 비염(계절 변동이 있는 통년성 포함)을 앓은 환자는 몇 명인가요?",
              "SELECT count(DISTINCT person_id) AS patients FROM condition_occurrence "
              "WHERE condition_concept_id IN (40486433, 4048171)", hospital=True),
        id="a word of another name that is no kind of its own",
    ),
]  # fmt: skip
SEEN = [
    pytest.param(
        Asked("As of today, how many people have reached the age of 50?",
              "오늘을 기준으로 만 50세가 된 사람은 몇 명인가요?",
              "SELECT COUNT(*) FROM person WHERE birth_date <= DATE '1970-05-20'",
              rules=frozenset({"pinned_today"})),
        id="a birthday counted from another day",
    ),
    pytest.param(
        Asked("Show each visit with the number of diagnoses made during it; those with none show 0.",
              "방문마다 그 방문에서 내려진 진단 수를 보여 주세요. 진단이 없는 방문은 0으로 표시합니다.",
              "SELECT visit_occurrence_id, COUNT(condition_occurrence_id) AS diagnoses FROM "
              "visit_occurrence JOIN condition_occurrence USING (visit_occurrence_id) "
              "GROUP BY visit_occurrence_id", rules=frozenset({"zero_rows"})),
        id="visits that a join leaves out",
    ),
    pytest.param(
        Asked("Of the women, how many visits per person, those never seen included?",
              "여성의 1인당 방문은 몇 건인가요? 방문한 적이 없는 여성도 포함합니다.",
              "SELECT AVG(n) AS visits FROM (SELECT p.person_id, COUNT(*) AS n FROM person p "
              "JOIN visit_occurrence v USING (person_id) WHERE p.gender_concept_id = 8532 "
              "GROUP BY p.person_id) t", rules=frozenset({"zero_rows"})),
        id="women that a join leaves out",
    ),
    pytest.param(
        Asked("How many hospital stays began in each month of 2018?",
              "2018년에 시작된 입원은 월별로 몇 건인가요?",
              "SELECT month(visit_start_date) AS month, count(*) AS stays FROM visit_occurrence "
              "WHERE visit_concept_id = 9201 AND year(visit_start_date) = 2018 GROUP BY 1",
              hospital=True, rules=frozenset({"missing_periods"})),
        id="months that have no row",
    ),
    pytest.param(
        Asked("On average, in which year were the people born who have a diagnosis?",
              "진단이 기록된 사람들의 출생 연도 평균은 얼마인가요?",
              "SELECT AVG(p.year_of_birth) AS mean_year FROM condition_occurrence AS c "
              "JOIN person AS p USING (person_id)", rules=frozenset({"fan_out"})),
        id="people that weigh as much as they have records",
    ),
    pytest.param(
        Asked("Take each person's own average A1c (percent, recorded only) and average those averages.",
              "사람마다 당화혈색소(%, 기록된 값만) 평균을 먼저 구한 뒤, 그 평균들의 평균을 내면 얼마인가요?",
              "SELECT AVG(value_as_number) AS mean FROM measurement WHERE measurement_concept_id = 3004410 "
              "AND unit_concept_id = 8554 AND value_as_number IS NOT NULL",
              rules=frozenset({"mean_of_means"})),
        id="one mean where the mean of means is asked for",
    ),
]  # fmt: skip


@pytest.mark.parametrize("asked", SILENT)
def test_a_right_reference_meets_silence(asked, small, hospital):
    assert found(asked, small, hospital) == set()


@pytest.mark.parametrize("asked", SEEN)
def test_a_wrong_reference_of_the_same_kind_is_seen(asked, small, hospital):
    assert asked.rules <= found(asked, small, hospital)
