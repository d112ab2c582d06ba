"""Price books: as JSON and as CSV, replaced as a whole or not at all, read back as they were put."""
import csv
import io
import urllib.parse
import uuid

import pytest

BOOKS = "/v1/price-books"
ROWS = [{"machine_type": "m5.xlarge", "per_executor_hour": 0.23, "spot_per_executor_hour": 0.09, "interruptions_per_hour": 0.02},
        {"machine_type": "free", "per_executor_hour": 0}, {"cluster": "eu-1", "per_executor_hour": 1e-7},
        {"machine_type": "eu-1", "per_executor_hour": 12345678.9, "spot_per_executor_hour": 0.1 + 0.2}]
BOOK = {"currency": "EUR", "prices": ROWS}
CSV = {"Content-Type": "text/csv"}
HEADER = "machine_type,cluster,currency,per_executor_hour,spot_per_executor_hour,interruptions_per_hour\n"


@pytest.fixture
def lonely(service):
    """A client of a team of its own."""
    return service.client(service.token("books-" + uuid.uuid4().hex[:8]))


def at(name):
    return BOOKS + "/" + urllib.parse.quote(name, safe="")


def put_csv(client, text, status=201, path=BOOKS + "/b", **headers):
    data = text if isinstance(text, bytes) else text.encode()
    return client.request("PUT", path, status, data=data, headers=dict(CSV, **headers))


def test_what_is_put_is_read_replaced_and_deleted(lonely):
    made = lonely.put(at("b"), BOOK, 201)
    assert made.headers["Location"] == at("b") and made.json()["prices"] == ROWS and made.json()["rows"] == 4
    read = lonely.get(at("b"))
    assert read.json() == made.json()
    lonely.request("GET", at("b"), 304, headers={"If-None-Match": read.headers["ETag"]})
    lonely.refuse("PUT", at("b"), 412, json=BOOK, headers={"If-None-Match": "*"})
    now = lonely.put(at("b"), {"currency": "USD", "prices": ROWS[:1]}, headers={"If-Match": read.headers["ETag"]}).json()
    assert now["currency"] == "USD" and now["prices"] == ROWS[:1] and now["version"] == 2
    lonely.refuse("DELETE", at("b"), 412, headers={"If-Match": read.headers["ETag"]})
    lonely.delete(at("b"))
    lonely.get(at("b"), 404)
    lonely.delete(at("b"), 404)
    assert [a["action"] for a in lonely.get("/v1/audit").json()["items"]][:3] == ["price_book.delete", "price_book.update", "price_book.insert"]


MACHINES = [{"machine_type": "m5.4xlarge", "per_machine_hour": 0.77, "spot_per_machine_hour": 0.25, "interruptions_per_hour": 0.05,
             "machine_cores": 16, "machine_memory_bytes": 61000000000, "startup_billed_s": 90, "minimum_billed_s": 60, "billing_increment_s": 1},
            {"machine_type": "sized", "per_machine_hour": 0, "machine_memory_bytes": 1}, dict(ROWS[0], minimum_billed_s=60)]


def test_machines_and_terms_of_billing_read_back(lonely):
    """As JSON and as CSV; where a price is of a machine, none is shown for an executor."""
    made = lonely.put(at("b"), dict(BOOK, prices=MACHINES + ROWS[1:]), 201).json()
    assert made["prices"] == lonely.get(at("b")).json()["prices"] == MACHINES + ROWS[1:]
    sheet = lonely.get(at("b") + "?format=csv").text
    assert list(csv.DictReader(io.StringIO(sheet)))[0]["machine_memory_bytes"] == "61000000000"
    assert put_csv(lonely, sheet, path=at("c")).json()["prices"] == MACHINES + ROWS[1:]
    # Terms that are null are not specified.
    plain = dict(ROWS[0], startup_billed_s=None, machine_cores=None, spot_per_machine_hour=None)
    assert lonely.put(at("d"), dict(BOOK, prices=[plain]), 201).json()["prices"] == ROWS[:1]


@pytest.mark.parametrize("body,pointer", [
    (dict(BOOK, prices=[{"machine_type": "a", "per_machine_hour": 1}]), "/prices/0/machine_cores"),
    (dict(BOOK, prices=[{"machine_type": "a", "per_executor_hour": 1, "per_machine_hour": 1, "machine_cores": 1}]), "/prices/0/per_machine_hour"),
    ({"prices": ROWS}, "/currency"), (dict(BOOK, currency="eur"), "/currency"), (dict(BOOK, currency="EURO"), "/currency"),
    (dict(BOOK, currency=978), "/currency"), ({"currency": "EUR"}, "/prices"), (dict(BOOK, prices=[]), "/prices"),
    (dict(BOOK, prices={}), "/prices"), (dict(BOOK, owner="x"), "/owner"),
    (dict(BOOK, prices=[{"per_executor_hour": 1}]), "/prices/0/machine_type"),
    (dict(BOOK, prices=[{"machine_type": "a", "cluster": "b", "per_executor_hour": 1}]), "/prices/0/cluster"),
    (dict(BOOK, prices=[{"machine_type": "a"}]), "/prices/0/per_executor_hour"),
    (dict(BOOK, prices=[{"machine_type": "a", "per_executor_hour": -0.01}]), "/prices/0/per_executor_hour"),
    (dict(BOOK, prices=[{"machine_type": "a", "per_executor_hour": "NaN"}]), "/prices/0/per_executor_hour"),
    (dict(BOOK, prices=[{"machine_type": "a", "per_executor_hour": 2e12}]), "/prices/0/per_executor_hour"),
    (dict(BOOK, prices=[{"machine_type": "a", "per_executor_hour": 1, "spot_per_executor_hour": -1}]), "/prices/0/spot_per_executor_hour"),
    (dict(BOOK, prices=[{"machine_type": "a", "per_executor_hour": 1, "interruptions_per_hour": 1}]), "/prices/0/spot_per_executor_hour"),
    (dict(BOOK, prices=ROWS + [dict(ROWS[0], per_executor_hour=9)]), "/prices/4/machine_type"),
    (dict(BOOK, prices=ROWS + [ROWS[2]]), "/prices/4/cluster"),
    (dict(BOOK, prices=[dict(ROWS[0], currency="EUR")]), "/prices/0/currency"), (dict(BOOK, prices=["m5"]), "/prices/0"),
])
def test_faults_name_their_place_and_change_nothing(lonely, body, pointer):
    tag = lonely.put(at("b"), BOOK, 201).headers["ETag"]
    lonely.refuse("PUT", at("b"), 422, pointer=pointer, json=body)
    assert lonely.get(at("b")).headers["ETag"] == tag


def test_numbers_that_are_none_are_no_json(lonely):
    for word in ("NaN", "1e999", "Infinity"):
        text = '{"currency": "EUR", "prices": [{"machine_type": "a", "per_executor_hour": %s}]}' % word
        lonely.refuse("PUT", at("b"), 400, data=text, headers={"Content-Type": "application/json"})


def test_pages_and_filters(lonely):
    for i in range(5):
        lonely.put(at("b%d" % i), dict(BOOK, currency="USD" if i % 2 else "EUR"), 201)
    page = lonely.get(BOOKS + "?limit=3").json()
    assert [b["name"] for b in page["items"]] == ["b0", "b1", "b2"] and all(b["rows"] == 4 and "prices" not in b for b in page["items"])
    assert [b["name"] for b in lonely.get(BOOKS + "?limit=3&cursor=" + page["next_cursor"]).json()["items"]] == ["b3", "b4"]
    assert [b["name"] for b in lonely.get(BOOKS + "?currency=USD").json()["items"]] == ["b1", "b3"]
    lonely.refuse("GET", BOOKS + "?currency=usd", 422, parameter="currency")
    lonely.refuse("GET", BOOKS + "?currency=USD&cursor=" + page["next_cursor"], 400, parameter="cursor")


def test_csv_goes_out_and_in_without_loss(lonely):
    odd = [{"machine_type": 'with "quotes"', "per_executor_hour": 0.1}, {"machine_type": "a,b", "per_executor_hour": 0.2},
           {"cluster": " blanks ", "per_executor_hour": 0.3}, {"machine_type": "größe", "per_executor_hour": 0.4}]
    put = lonely.put(at("b"), dict(BOOK, prices=ROWS + odd), 201).json()
    sheet = lonely.get(at("b") + "?format=csv")
    assert sheet.headers["Content-Type"].startswith("text/csv") and sheet.headers["Vary"] == "Accept"
    assert sheet.text.endswith("\r\n") and sheet.text.count("\r\n") == 9
    rows = list(csv.DictReader(io.StringIO(sheet.content.decode())))
    assert rows[0] == {"machine_type": "m5.xlarge", "cluster": "", "currency": "EUR", "per_executor_hour": "0.23",
                       "spot_per_executor_hour": "0.09", "interruptions_per_hour": "0.02"}
    assert put_csv(lonely, sheet.content, path=at("copy")).json()["prices"] == put["prices"]
    assert lonely.get(at("copy") + "?format=csv").content == sheet.content


def test_the_form_is_chosen_by_parameter_or_accept(lonely):
    lonely.put(at("b"), BOOK, 201)
    for accept, kind in (("text/csv", "text/csv"), ("application/json", "application/json"), ("*/*", "application/json"),
                         ("text/csv;q=0.5, application/json", "application/json"), ("application/json;q=0.1, text/*", "text/csv")):
        assert lonely.get(at("b"), headers={"Accept": accept}).headers["Content-Type"].startswith(kind), accept
    assert lonely.get(at("b") + "?format=json", headers={"Accept": "text/csv"}).json()["currency"] == "EUR"
    lonely.refuse("GET", at("b") + "?format=xlsx", 422, parameter="format")
    # Each form has a tag of its own, and either is the version that a writer read.
    json, sheet = lonely.get(at("b")).headers["ETag"], lonely.get(at("b") + "?format=csv").headers["ETag"]
    assert json != sheet
    lonely.request("GET", at("b"), 200, headers={"If-None-Match": sheet})
    lonely.request("GET", at("b") + "?format=csv", 304, headers={"If-None-Match": sheet})
    put_csv(lonely, HEADER + "a,,EUR,1,,", 200, **{"If-Match": sheet})
    lonely.refuse("PUT", at("b"), 412, json=BOOK, headers={"If-Match": sheet})


@pytest.mark.parametrize("text", [
    "machine_type,currency,per_executor_hour\na,EUR,1\nb,EUR,2\n",
    "\ufeffmachine_type,currency,per_executor_hour\r\na,EUR,1\r\nb,EUR,2",
    '"currency","per_executor_hour","machine_type"\r\n"EUR","1","a"\r\n\r\nEUR,2.0,b\r\n\r\n',
    " machine_type , per_executor_hour,currency\ra,1 ,EUR\rb,2e0,\r",
    "per_executor_hour,cluster,machine_type,currency\n1,,a,EUR\n2,,b,EUR\n",
])
def test_csv_as_people_write_it(lonely, text):
    book = put_csv(lonely, text).json()
    assert book["currency"] == "EUR"
    assert book["prices"] == [{"machine_type": "a", "per_executor_hour": 1}, {"machine_type": "b", "per_executor_hour": 2}]


def test_a_price_of_minus_nothing_is_nothing(lonely):
    book = put_csv(lonely, "machine_type,currency,per_executor_hour\na,EUR,-0\n")
    assert '"per_executor_hour":0' in book.text


def test_csv_with_the_currency_in_the_query(lonely):
    text = "machine_type,per_executor_hour\na,1\n"
    assert put_csv(lonely, text, path=at("b") + "?currency=CHF").json()["currency"] == "CHF"
    lonely.refuse("PUT", at("b") + "?currency=CHF", 422, pointer="/currency", headers=CSV,
                  data="machine_type,per_executor_hour,currency\na,1,EUR\n")
    lonely.refuse("PUT", at("b") + "?currency=chf", 422, parameter="currency", data=text, headers=CSV)
    lonely.refuse("PUT", at("b") + "?currency=CHF", 422, parameter="currency", json=BOOK)


@pytest.mark.parametrize("text,pointer,words", [
    ("", "", "line 1: the first line must name"),
    ("machine_type,currency,per_executor_hour\n", "/prices", "there is no price"),
    ("machine_type,per_executor_hour\na,1\n", "/currency", "line 1"),
    ("machine_type,currency\na,EUR\n", "", "per_executor_hour"),
    ("per_executor_hour,currency\n1,EUR\n", "", "machine_type"),
    ("machine_type,price\na,1\n", "", "line 1: names a column that is none of"),
    ("machine_type,machine_type,per_executor_hour\na,b,1\n", "", "line 1: names a column twice"),
    (HEADER + "a,,EUR,1,,\nb,,EUR,2,\n", "", "line 3: has 5 fields, and the first line names 6"),
    (HEADER + "a,,EUR,1,,\n\n\nb,,EUR,x,,\n", "/prices/1/per_executor_hour", "line 5, column per_executor_hour"),
    (HEADER + '"a",,EUR,1,,\n"two\nlines",,EUR,1,,\n', "/prices/1/machine_type", "line 4, column machine_type"),
    (HEADER + "a,,EUR,0x10,,\n", "/prices/0/per_executor_hour", "must be a number"),
    (HEADER + "a,,EUR,nan,,\n", "/prices/0/per_executor_hour", "must be a number"),
    (HEADER + "a,,EUR,inf,,\n", "/prices/0/per_executor_hour", "must be a number"),
    (HEADER + "a,,EUR,1e999,,\n", "/prices/0/per_executor_hour", "from 0 to"),
    (HEADER + "a,,EUR,-1,,\n", "/prices/0/per_executor_hour", "from 0 to"),
    (HEADER + "a,,EUR,,,\n", "/prices/0/per_executor_hour", "is empty"),
    (HEADER + "a,,EUR,1,,0.5\n", "/prices/0/spot_per_executor_hour", "must be set where interruptions_per_hour is"),
    (HEADER + "a,b,EUR,1,,\n", "/prices/0/cluster", "machine_type is given too"),
    (HEADER + ",,EUR,1,,\n", "/prices/0/machine_type", "is empty"),
    (HEADER + "a,,EUR,1,,\na,,EUR,2,,\n", "/prices/1/machine_type", "line 3, column machine_type: line 2 prices it already"),
    (HEADER + "a,,EUR,1,,\nb,,USD,2,,\n", "/currency", "line 3, column currency"),
    (HEADER + "a,,Euro,1,,\n", "/currency", "three capital letters"),
    (HEADER + 'a,,EUR,1,,\nb"c",,EUR,1,,\n', "", "line 3: a quote"),
    (HEADER + 'a,,EUR,1,,\n"b"c,,EUR,1,,\n', "", "line 3: a quote"),
    (HEADER + '"a,,EUR,1,,\n', "", "not closed"),
    ((HEADER + "a,,EUR,1,,\n").encode() + b"\xff,,EUR,1,,\n", "", "line 3: holds bytes that are not UTF-8"),
    ((HEADER + "a,,EUR,1,,\n").encode("utf-16"), "", "line 1: holds bytes that are not UTF-8"),
    (HEADER + "a\0b,,EUR,1,,\n", "/prices/0/machine_type", "line 2"),
    (HEADER + "a" * 256 + ",,EUR,1,,\n", "/prices/0/machine_type", "line 2"),
])
def test_csv_faults_name_line_and_column_and_change_nothing(lonely, text, pointer, words):
    tag = lonely.put(at("b"), BOOK, 201).headers["ETag"]
    data = text if isinstance(text, bytes) else text.encode()
    problem = lonely.refuse("PUT", at("b"), 422, pointer=pointer, data=data, headers=CSV)
    assert any(words in e["detail"] for e in problem["errors"]), problem
    assert lonely.get(at("b")).headers["ETag"] == tag


def test_other_types_and_codings_are_not_taken(lonely):
    reply = lonely.request("PUT", at("b"), 415, data=b"x", headers={"Content-Type": "text/plain"})
    assert reply.headers["Accept"] == "application/json, text/csv"
    lonely.request("PUT", at("b"), 415, data=b"x", headers={"Content-Type": "text/csv; charset=utf-16"})
    assert "Accept-Encoding" in lonely.request("PUT", at("b"), 415, data=b"x", headers=dict(CSV, **{"Content-Encoding": "gzip"})).headers
    # Elsewhere CSV is no body at all.
    assert lonely.request("PUT", "/v1/clusters/c", 415, data=b"x", headers=CSV).headers["Accept"] == "application/json"


def test_a_book_of_ten_thousand_prices(lonely):
    rows = [{"machine_type": "type-%d" % i, "per_executor_hour": i / 1000, "spot_per_executor_hour": i / 3000, "interruptions_per_hour": 0.5}
            for i in range(10000)]
    lonely.put(at("b"), dict(BOOK, prices=rows), 201)
    sheet = lonely.get(at("b") + "?format=csv").content
    assert put_csv(lonely, sheet, path=at("c")).json()["rows"] == 10000
    assert lonely.get(at("c")).json()["prices"] == rows


def test_names_with_odd_characters(lonely):
    for name in ("a/b", "grün", "%"):
        location = lonely.put(at(name), BOOK, 201).headers["Location"]
        assert lonely.get(location).json()["name"] == name
    lonely.refuse("PUT", at("a\tb"), 422, parameter="name", json=BOOK)
