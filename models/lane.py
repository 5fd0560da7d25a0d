"""A route in use: who carries its calls, how many at once, and whether it is down."""

from dataclasses import dataclass

from models.bulk import Session, carrier
from models.call import Model, ModelError
from models.failures import OF_THE_ROUTE, CallFailed
from models.limits import Limit
from models.roster import ModelCard, Route

_DOWN_AFTER = 3  # calls in a row that failed for good, without one that went well


class RouteDown(ModelError):
    """The route gives no answers at present: its open calls were not made."""


@dataclass
class Lane:
    """One route while a gateway is open. `down` says why it gives no answers; "" while it does."""

    card: ModelCard
    route: Route
    carrier: Model
    limit: Limit
    down: str = ""
    lost: int = 0  # calls in a row that failed for good

    def require_up(self) -> None:
        """Raise RouteDown when the route is down."""
        if self.down:
            raise RouteDown(
                f"the route {self.route.name!r} of {self.card.id} is down ({self.down}): this call was "
                "not made; run the same command again when the route is up"
            )

    def went_well(self) -> None:
        """Learn from an answer."""
        self.lost = 0
        self.limit.went_well()

    def failed(self, failure: CallFailed, *, for_good: bool) -> None:
        """Learn from a failure. for_good: it is not tried again."""
        if failure.kind == "rate_limit":
            self.limit.too_many()
        if failure.kind in OF_THE_ROUTE:
            self.down = str(failure)
        elif for_good and failure.kind not in ("bad_request", "context_length"):
            self.lost += 1
            if failure.unsent or self.lost >= _DOWN_AFTER:
                self.down = str(failure)

    def last(self, failure: CallFailed, attempts: int) -> ModelError:
        """Return the error of a call that failed for good."""
        times = "once" if attempts == 1 else f"{attempts} times"
        status = f"{failure.status} " if failure.status else ""
        return ModelError(f"{self.card.id} failed {times}; last: {status}{failure.kind}: {failure}")


def open_lane(card: ModelCard, name: str, session: Session, api_base: str | None) -> Lane:
    """Return the lane of a model's route. api_base: where our own server serves it."""
    route = route_of(card, name)
    limit = Limit(
        route.concurrency,
        requests_per_minute=route.requests_per_minute,
        tokens_per_minute=route.tokens_per_minute,
    )
    return Lane(card, route, carrier(route, session, api_base=api_base), limit)


def route_of(card: ModelCard, name: str) -> Route:
    """Return a card's route by name. Raises: ModelError that lists the known ones."""
    for route in card.routes:
        if route.name == name:
            return route
    known = ", ".join(route.name for route in card.routes)
    raise ModelError(f"{card.id} has no route {name!r} in registry/models.yaml; it has {known}")
