"""The neighbour recipes of a task: what is kept and given away instead of rows.

`registry/neighbours/<task>.jsonl`, one recipe a line in canonical JSON, by item id; `text2sql check
--recipes` writes it, and the neighbour exam rebuilds from it and refuses another database:

    {"builder":1,"classes":[...],"item":"hard-001","item_sha256":"...","levels":{...},"offsets":[30],
     "rows_sha256":"...","seed":20190703,"source":"...","tables":[...],"used":[...]}
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from items.model import Item
from items.neighbour import Recipe, recipe_of, sealed
from items.rules.facts import Facts
from items.rules.sql import read_query
from registry import files
from registry.canonical import canonical, json_lines
from registry.reader import FormatError, read_text

Step = Callable[[str], None]


def recipes_path(registry: Path, task: str) -> Path:
    """Return where the recipes of a task (`slug@version`) lie."""
    return registry / "neighbours" / f"{task}.jsonl"


def recipes_of(items: Iterable[Item], facts: Facts, step: Step = lambda id: None) -> list[Recipe]:
    """Return the sealed recipes of the answerable items whose reference can be read, by item id.

    step: called with each item's id when it is done.

    Raises: QueryError.
    """
    made = []
    for item in sorted(items, key=lambda item: item.id):
        query = read_query(item.reference_sql, facts.tables) if item.answerable else None
        if query is not None:
            made.append(sealed(recipe_of(item, query, facts), facts))
        step(item.id)
    return made


def save_recipes(path: Path, recipes: Iterable[Recipe]) -> None:
    """Write recipes, the file whole. Raises: OSError."""
    files.replace(path, "".join(canonical(recipe.as_json()) + "\n" for recipe in recipes))


@dataclass(frozen=True)
class Recipes:
    """The kept recipes of a task, by item id."""

    path: Path
    by_item: dict[str, Recipe]

    def of(self, item: Item) -> Recipe:
        """Return an item's recipe. Raises: FormatError when there is none for its present content."""
        recipe = self.by_item.get(item.id)
        if recipe is None or recipe.item_sha256 != item.sha256:
            said = "no recipe" if recipe is None else f"a recipe for {recipe.item_sha256[:12]}…"
            here = f"{item.id} is {item.sha256[:12]}…, the file has {said}"
            raise FormatError(self.path, None, f"{here}; `text2sql check --recipes` writes it anew")
        return recipe


def load_recipes(path: Path) -> Recipes | None:
    """Return a task's recipes; None where no file is kept. Raises: FormatError with file:line, OSError."""
    if not path.exists():
        return None
    found: dict[str, Recipe] = {}
    for number, line in enumerate(json_lines(path.read_text(encoding="utf-8")), 1):
        try:
            recipe = read_text(line, Recipe, path)
        except FormatError as error:
            raise FormatError(path, number, error.problem) from None
        if recipe.item in found:
            raise FormatError(path, number, f"a second recipe for {recipe.item}")
        found[recipe.item] = recipe
    return Recipes(path, found)
