"""flask-smorest as this shop uses it: strict JSON, all problems at once, no handling of errors outside /v1; and the
fields and shapes that more than one subject uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import wraps
from itertools import islice
from typing import Any, NoReturn

from flask import Request, request
from flask_smorest import Api, Blueprint
from marshmallow import INCLUDE, RAISE, Schema, ValidationError, fields, pre_load, validate
from webargs import missing
from webargs.flaskparser import FlaskParser
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from app.domain.shared.clock import rfc3339
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Items, Record, Strict, Text, camel_case, problems_of
from app.extensions import csrf
from app.web.errors import http_error
from app.web.permissions import View

MOST_PROBLEMS = 1_000  # Reported at once.
TOO_MANY_FIELDS = "too_many_fields"
UNKNOWN_FIELD, UNKNOWN_PARAMETER = "unknown_field", "unknown_parameter"
WRONG_TYPE = "invalid"  # Marshmallow's code for a body that is no object.
ACCESS_TOKEN, READER_TOKEN = "accessToken", "readerToken"  # Security schemes of the description.
QUERY = "query"  # Where the parameters of an address are read from.
IDEMPOTENCY_KEY = "IdempotencyKey"  # A parameter of the description.
MOST_NAMES = 50  # In one object; no shape has half as many.
LONGEST_NUMBER = 7  # Digits in an address.
LARGEST_NUMBER = 10**LONGEST_NUMBER - 1
# The rules of texts for the description: regular expressions of ECMA 262, which need anchors.
ANY_TEXT = {"pattern": r"^[^\u0000]*$"}
# The rule of the domain (app/domain/shared/text.py), in which white space of any kind is a space.
_NO_LINE = r"\u0000-\u0008\u000e-\u001b\u007f-\u0084\u0086-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff"
_NO_BLOCK = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff"
_BLANK = r"\s\u001c-\u001f\u0085"
LINE = {"pattern": f"^[^{_NO_LINE}]*[^{_BLANK}{_NO_LINE}][^{_NO_LINE}]*$"}
BLOCK = {"pattern": f"^[^{_NO_BLOCK}]*$"}


def parameter_name(argument: str) -> str:
    """Return the name of a view's argument in the description, which is that of the specification."""
    return "id" if argument == "basket_id" else camel_case(argument)


class Shape(Schema):
    """What goes over the wire: names in camelCase, and nothing that it does not name."""

    def on_bind_field(self, field_name: str, field_obj: fields.Field) -> None:
        field_obj.data_key = field_obj.data_key or camel_case(field_name)
        if isinstance(field_obj, Strict):  # The codes of /v1 are older than those of the admin.
            field_obj.wrong_type_code, field_obj.null_code = "invalid", "required"

    @pre_load
    def refuse_many_names(self, data: Any, **_more: Any) -> Any:
        """Before each of them is looked at, which takes seconds for as many as fit into a body."""
        if isinstance(data, dict) and len(data) > MOST_NAMES:
            raise ValidationError([Problem(TOO_MANY_FIELDS, f"An object here has at most {MOST_NAMES} fields.")])
        return data


class Body(Shape):
    """What is sent. Its description says what holds for every text in it: strict JSON has no NUL."""

    def on_bind_field(self, field_name: str, field_obj: fields.Field) -> None:
        super().on_bind_field(field_name, field_obj)
        if isinstance(field_obj, fields.String):
            field_obj.metadata = ANY_TEXT | dict(field_obj.metadata)


def body_of(record: Record, **items: type[Shape]) -> type[Any]:
    """Return the shape of a record that the domain reads; `items` are the shapes of what its lists hold, by name."""
    return Body.from_dict({name: _describe(field, items.get(name)) for name, field in record.fields.items()})


def _describe(field: Strict, item: type[Shape] | None) -> fields.Field[Any]:
    longest = {"maxLength": field.longest} if isinstance(field, Text) and field.longest else {}
    meaning = {"description": field.meaning} if field.meaning else {}
    metadata: dict[str, Any] = {**longest, **meaning, **field.metadata}
    if item is not None and isinstance(field, Items):
        return fields.List(
            fields.Nested(item), allow_none=field.allow_none, metadata=metadata | {"maxItems": field.most}
        )
    bound = copy(field)
    bound.metadata = metadata
    return bound


class NumberInAddress(fields.Integer):
    """A whole number in ASCII digits; a longer one than any list has counts as the largest."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not (value.isascii() and value.isdigit()):
            raise self.make_error("invalid", input=value)
        return int(value) if len(value) <= LONGEST_NUMBER else LARGEST_NUMBER


class ShortLine(fields.String):
    """A text of 1 to 100 characters without a control character."""

    def __init__(self, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        rule = validate.Regexp(r"[^\x00-\x1f\x7f]{1,100}\Z", error="A line of 1 to 100 characters, please.")
        described = {"pattern": r"^[^\u0000-\u001f\u007f]{1,100}$"}
        super().__init__(validate=rule, metadata=described | dict(metadata or {}), **kwargs)


class UtcTime(fields.String):
    """A time in UTC, to the second."""

    def __init__(self, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(metadata={"format": "date-time"} | dict(metadata or {}), **kwargs)

    def _serialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return None if value is None else rfc3339(value)


class Few(fields.List):
    """A list that is refused when it is too long, before any of its items is read."""

    def __init__(self, inner: fields.Field, most: int, **kwargs: Any) -> None:
        super().__init__(inner, validate=validate.Length(max=most), **kwargs)
        self.most = most

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, list) and len(value) > self.most:
            raise ValidationError(f"At most {self.most:,} at once, please.")
        return super()._deserialize(value, *args, **kwargs)


class Unread(fields.List):
    """A list whose items are described, but read and written by the domain, which says more about what is wrong."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        return value

    def _serialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return value


class PageQuery(Shape):
    page_number = NumberInAddress(load_default=1, validate=validate.Range(min=1))
    page_size = NumberInAddress(load_default=20, validate=validate.Range(min=1, max=100))


class ListShape(Shape):
    page_number = fields.Int(required=True)
    page_size = fields.Int(required=True)
    total_items = fields.Int(required=True)
    total_pages = fields.Int(required=True)


class ProblemShape(Shape):
    """RFC 9457; programs look at `code`, and pass over what they do not know."""

    class Meta:
        unknown = INCLUDE

    type = fields.Str(required=True)
    title = fields.Str(required=True)
    status = fields.Int(required=True)
    detail = fields.Str(required=True)
    instance = fields.Str(required=True)
    code = fields.Str(required=True, metadata={"description": "A stable word for programs."})
    errors = fields.List(fields.Nested(lambda: OneProblemShape()), metadata={"description": "Every one, at once."})
    current_revision = fields.Int(metadata={"description": "Of what another user saved first."})
    decline_code = fields.Str(metadata={"description": "Why the card's issuer declined."})
    retryable = fields.Bool(metadata={"description": "Whether the same payment can be tried again."})
    max_amount_in_pence = fields.Int(metadata={"description": "The limit that the amount exceeds."})
    limit_source = fields.Str(metadata={"description": "Whose limit it is: AGENT or SITE."})
    attempts_left = fields.Int(
        metadata={"description": "After so many further amounts above the limit the session ends; 0: it was ended."}
    )
    missing_roles = fields.List(
        fields.Str(), metadata={"description": "The roles of which the user needs one, of `pos_role_required`."}
    )
    transaction_id = fields.Str(metadata={"description": "The transaction that this is about."})
    payment_intent_id = fields.Str(metadata={"description": "The payment that is under way already."})


class OneProblemShape(Shape):
    """One thing to fix; `levelId` and `attributeId` as they were sent."""

    code = fields.Str(required=True)
    pointer = fields.Str(required=True, metadata={"description": "A JSON pointer (RFC 6901) with a leading `#`."})
    message = fields.Str(required=True)
    level_id = fields.Str()
    attribute_id = fields.Str()


class ProblemApi(Api):
    """The API, with the shop's own handler of errors: flask-smorest's would answer errors of the whole application,
    pages included."""

    ERROR_SCHEMA = ProblemShape
    DEFAULT_ERROR_RESPONSE_NAME = None

    def handle_http_exception(self, error: HTTPException) -> Response:
        return http_error(error)


class NoParameters(Shape):
    """The query of an operation that takes no parameters."""


class StrictParser(FlaskParser):
    DEFAULT_VALIDATION_STATUS = 400
    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION | {QUERY: RAISE}

    def load_json(self, req: Request, schema: Schema) -> Any:
        """Read a body by the shop's own reader, which refuses what webargs would accept. Raises Invalid."""
        return req.get_json() if req.get_data(cache=True) else missing

    def handle_error(self, error: ValidationError, req: Request, schema: Schema, **_statuses: Any) -> NoReturn:
        """Raise Invalid with the problems that marshmallow found."""
        found = (
            _reword_problem(problem, location)
            for location, messages in error.normalized_messages().items()
            for problem in problems_of(messages)
        )
        raise Invalid(list(islice(found, MOST_PROBLEMS)))


def _reword_problem(problem: Problem, location: str) -> Problem:
    """Return a problem in the words for the place where it was found."""
    if (problem.pointer, problem.code) == ("#", WRONG_TYPE):
        return Problem("not_an_object", "Send a JSON object.")
    if location == QUERY and problem.code == UNKNOWN_FIELD:
        message = problem.message.replace("no field", "no parameter")
        return Problem(UNKNOWN_PARAMETER, message, problem.pointer)
    return problem


class ApiBlueprint(Blueprint):
    """A blueprint of /v1, without the check against forged forms: cookies mean nothing here. `tag` is one of TAGS in
    `description`."""

    ARGUMENTS_PARSER = StrictParser()

    def __init__(self, *args: Any, tag: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tag = tag
        csrf.exempt(self)

    def add_url_rule(self, *args: Any, **kwargs: Any) -> None:
        super().add_url_rule(*args, **kwargs | {"tags": [self.tag]})

    def described(self, name: str, *problems: int, ignores_query: bool = False) -> Callable[[View], View]:
        """Give the operation its name in the description, and declare the problems with which it may answer besides
        those of the input. Parameters of the address that the operation does not name are refused, unless it
        `ignores_query`."""

        def decorate(view: View) -> View:
            if not ignores_query:
                view = self.alt_response(400, problem_name(400))(view)
                view = view if _names_parameters(view) else self._without_parameters(view)
            for status in problems:
                view = self.alt_response(status, problem_name(status))(view)
            described: View = self.doc(operationId=name)(view)
            return described

        return decorate

    def _without_parameters(self, view: View) -> View:
        @wraps(view)
        def checked(*args: Any, **kwargs: Any) -> Any:
            self.ARGUMENTS_PARSER.parse(NoParameters(), request, location=QUERY)
            return view(*args, **kwargs)

        return checked  # type: ignore[return-value]

    def open_to_all(self, view: View) -> View:
        """Declare in the description that no token is needed."""
        described: View = self.doc(security=[])(view)
        return described

    def for_readers(self, view: View) -> View:
        """Declare in the description that the token of a card reader is needed, and no other is valid."""
        described: View = self.doc(security=[{READER_TOKEN: []}])(view)
        return described

    def idempotent(self, view: View) -> View:
        """Declare in the description that the operation reads the header Idempotency-Key."""
        described: View = self.doc()(view)
        documentation = described._apidoc  # type: ignore[attr-defined]
        documentation.setdefault("arguments", {}).setdefault("parameters", []).append(IDEMPOTENCY_KEY)
        return described


def _names_parameters(view: View) -> bool:
    documented = getattr(view, "_apidoc", {}).get("arguments", {}).get("parameters", ())
    return any(isinstance(one, Mapping) and one.get("in") == QUERY for one in documented)


def problem_name(status: int) -> str:
    """Return the name of a problem's answer in the description; flask-smorest itself names that of 400."""
    return "BAD_REQUEST" if status == 400 else f"PROBLEM_{status}"
