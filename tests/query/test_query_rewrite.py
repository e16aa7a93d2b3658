import pytest

from sssjob.query.parser import parse
from sssjob.query.rewrite import direct, in_both_namespaces


@pytest.mark.parametrize(
    "expression, printed",
    [
        ("//Job[State]/Id", "/descendant::Job[child::State]/child::Id"),
        ("Requested//Memory", "child::Requested/descendant::Memory"),
        ("//Job[//Id]", "/descendant::Job[/descendant::Id]"),
        ("//Job[1]", "/descendant-or-self::node()/child::Job[1]"),
        ("//Job[position() > 1]", "/descendant-or-self::node()/child::Job[position() > 1]"),
        ("//Job[count(Id)]", "/descendant-or-self::node()/child::Job[count(child::Id)]"),
        ("//@units", "/descendant-or-self::node()/attribute::units"),
    ],
)
def test_the_detour_over_every_node_is_left_out_where_nothing_is_counted(expression, printed):
    assert str(direct(parse(expression))) == printed


@pytest.mark.parametrize(
    "expression, printed",
    [
        ("Job[2]", "child::*[self::Job or self::s:Job][2]"),
        ("ancestor::Job/@units", "ancestor::*[self::Job or self::s:Job]/attribute::units"),
        ("*/x:a/text()", "child::*/child::x:a/child::text()"),
        ("count((Id)[1])", "count((child::*[self::Id or self::s:Id])[1])"),
    ],
)
def test_a_name_without_prefix_means_both_before_anything_is_counted(expression, printed):
    assert str(in_both_namespaces(parse(expression, {"x": "urn:x"}), "s")) == printed
