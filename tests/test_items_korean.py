"""Particles follow the sound before them."""

import pytest

from items.korean import Korean, particle


@pytest.mark.parametrize(
    ("word", "pair", "right"),
    [
        ("환자", "은/는", "는"),
        ("진단", "을/를", "을"),
        ("심방세동", "이/가", "이"),
        ("골절", "으로/로", "로"),
        ("염좌", "으로/로", "로"),
        ("천식", "으로/로", "으로"),
        ("2018", "은/는", "은"),
        ("2019", "은/는", "는"),
        ("2010", "을/를", "을"),
        ("3", "이/가", "이"),
        ("1", "으로/로", "로"),
        ("CT", "을/를", "를"),
        ("MRI", "은/는", "는"),
        ("ECMO", "과/와", "와"),
        ("IgM", "이/가", "이"),
        ("페니실린 V", "을/를", "를"),
        ("warfarin", "을/를", "을"),
        ("clopidogrel", "으로/로", "로"),
        ("celecoxib", "은/는", "는"),
        ("Warfarin Sodium 5 MG", "이/가", "이"),
        ("아스피린(Aspirin)", "은/는", "은"),
        ("뇌졸중(stroke)", "과/와", "과"),
        ("부비동염 [Sinusitis]", "을/를", "을"),
        ("…", "은/는", "는"),
    ],
)
def test_a_particle_follows_the_sound(word, pair, right):
    assert particle(word, pair) == right


def test_a_word_takes_its_particle_in_a_format():
    assert f"{Korean('중이염'):을/를} {Korean('중이염')}" == "중이염을 중이염"


def test_something_else_is_no_pair():
    with pytest.raises(ValueError, match="no pair"):
        particle("환자", "은")
