"""The addresses of a cluster are checked at the start, and the search engine is chosen by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.adapters.null_engine import NullEngine
from app.adapters.opensearch import OpenSearchEngine
from app.adapters.opensearch.addresses import nodes_of
from app.adapters.whoosh import WhooshEngine
from app.config import Config, ConfigurationError, OpenSearchSettings
from app.factory import search_engine_for


def test_several_nodes_share_a_user_whom_an_address_may_name() -> None:
    nodes = nodes_of(OpenSearchSettings(url="https://me:se%3Acret@one.example, https://two.example:443"))
    assert nodes.addresses == ("https://one.example:9200", "https://two.example:443")
    assert (nodes.user, nodes.password) == ("me", "se:cret")


def test_settings_of_their_own_are_stronger_than_what_an_address_says() -> None:
    nodes = nodes_of(OpenSearchSettings(url="https://me:one@a.example", user="you", password="two"))
    assert (nodes.user, nodes.password) == ("you", "two")
    assert "two" not in repr(nodes)


@pytest.mark.parametrize(
    "url", ["http://localhost", "http://me:secret@127.0.0.1:9201", "http://[::1]:9200", "http://opensearch:9200"]
)
def test_what_stays_on_the_machine_or_among_its_containers_need_not_be_encrypted(url: str) -> None:
    assert nodes_of(OpenSearchSettings(url=url)).addresses


@pytest.mark.parametrize(
    "url",
    ["http://search.example", "http://10.0.0.7:9200", "http://me:secret@opensearch:9200", "https://a,http://b.example"],
)
def test_what_travels_in_the_open_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="must begin with https") as refused:
        nodes_of(OpenSearchSettings(url=url))
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("url", ["", "search.example", "ftp://a", "https://a/path", "https://a:port", "https://a,"])
def test_what_is_no_address_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(ConfigurationError, match="must be the address of a node"):
        nodes_of(OpenSearchSettings(url=url))


def test_a_user_has_a_password() -> None:
    with pytest.raises(ConfigurationError, match="both or neither"):
        nodes_of(OpenSearchSettings(url="https://a", user="me"))


@pytest.mark.parametrize("prefix", ["", "Shop", "-shop", "a b", "a" * 65, "shop*"])
def test_a_prefix_is_one_of_names_of_indices(prefix: str) -> None:
    with pytest.raises(ConfigurationError, match="OPENSEARCH_PREFIX is"):
        nodes_of(OpenSearchSettings(url="https://a", prefix=prefix))


def test_the_file_of_certificates_is_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"OPENSEARCH_CA is .* must be a file"):
        nodes_of(OpenSearchSettings(url="https://a", ca_file=tmp_path / "ca.pem"))


@pytest.mark.parametrize(
    ("name", "kind"), [("whoosh", WhooshEngine), ("opensearch", OpenSearchEngine), ("none", NullEngine)]
)
def test_an_engine_is_chosen_by_its_name(name: str, kind: type, tmp_path: Path) -> None:
    settings = OpenSearchSettings(url="https://search.example")
    config = Config(
        database_url="sqlite:///shop.db", search_engine=name, opensearch=settings, index_dir=tmp_path / "index"
    )
    assert type(search_engine_for(config, None)) is kind
