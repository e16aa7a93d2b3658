"""A document that loses nothing: its bytes, what they say, and what they are after a change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from lxml.etree import _Element as Element

from sssjob.document import tree
from sssjob.document.bundle import Bundle, MessageFile, bundle, written
from sssjob.document.encodings import UTF8, hiding
from sssjob.document.files import Source, of_text, opened
from sssjob.document.outermost import PART_TAGS, UNIT_TAGS
from sssjob.document.patch import ByteEdit, NodeSpan, applied, blank_before, spans
from sssjob.document.places import local
from sssjob.document.splice import rewrite, unplaced
from sssjob.errors import Finding, InvalidValue, UnreadableDocument, finding, of_kind, shown
from sssjob.model import Block


@dataclass(frozen=True)
class Document:
    """One document, held whole: a change gives another one, with every byte that it is not about.

    Comments, instructions, prefixes, white space, the wrapper and its Files stay what and where
    they were, inside of values, too.

    >>> document = Document.read(b"<Data><Job><!-- a --><Id>7</Id></Job></Data>")
    >>> document.wrapper, document.blocks[0].id
    ('Data', '7')
    >>> bytes(document.replacing(lambda job: job.setting(State="Idle")))
    b'<Data><Job><!-- a --><Id>7</Id><State>Idle</State></Job></Data>'
    """

    data: bytes

    def __post_init__(self) -> None:
        of_kind(self.data, bytes, "the bytes of a document; Document.read takes others")

    @classmethod
    def read(cls, source: Source) -> Document:
        """The one document of a source; a text that begins with ``<`` is the document itself.

        Raises ``UnreadableDocument``.
        """
        with opened(of_text(source)) as stream:
            document = cls(stream.read())
        document.root  # noqa: B018 - it is refused now, not when it is used
        return document

    def __repr__(self) -> str:
        return f"<Document: {len(self.data)} bytes>"

    def __bytes__(self) -> bytes:
        """The document, as it was read but for what was changed."""
        return self.data

    @cached_property
    def root(self) -> Element:
        """The tree of the document."""
        roots = [found.element for found in tree.documents(self.data, wanted=tree.Wanted.DOCUMENTS)]
        if len(roots) != 1:
            raise UnreadableDocument(
                finding("E-CARD", f"expected one document, found {len(roots)}")
            )
        return roots[0]

    @property
    def prolog(self) -> str:
        """What stands before the root: a declaration, comments, instructions."""
        return self._text[: self._span.start].decode().removeprefix("\ufeff")

    @property
    def epilog(self) -> str:
        """What stands behind the root."""
        return self._text[self._span.end :].decode()

    @property
    def encoding(self) -> str:
        """In which the bytes are; UTF-8 if nothing else is said."""
        return hiding(self.data) or self.root.getroottree().docinfo.encoding or UTF8

    @property
    def wrapper(self) -> str:
        """The name of the root; "" where that is a job object or a part of one."""
        tag = self.root.tag
        return "" if tag in UNIT_TAGS or tag in PART_TAGS else local(self.root)

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The namespaces that the root declares, by their prefixes; "" is that of names without."""
        return {prefix or "": uri for prefix, uri in self.root.nsmap.items() if uri}

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The job objects, as ``read`` gives them."""
        return self._bundle.blocks

    @property
    def files(self) -> Mapping[str, MessageFile]:
        """The Files by their ids, which an Executable names with #; of several, that meant."""
        return MappingProxyType(self._bundle.files)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong or worth knowing of its Files, and of what names them."""
        return self._bundle.findings

    def replacing(self, change: Callable[[Block], Block]) -> Document:
        """The document with other job objects in the place of some.

        ``change`` is given each, and gives it back, or another one. Raises ``UnreadableDocument``
        where their places in an encoding cannot be found, and ``InvalidValue`` for what is no job
        object.
        """

        of_kind(change, Callable, "a function of a job object")  # type: ignore[arg-type]

        def changed(block: Block) -> Block:
            new = change(block)
            if not isinstance(new, Block):
                raise InvalidValue(shown(new), "a job object in the place of another one")
            return new

        return Document(b"".join(rewrite(self.data, changed)))

    def with_file(self, id_: str, content: bytes | str) -> Document:
        """The document with a File of an id, in the place of the one that it has, or as its last.

        A text is kept in UTF-8. Raises ``InvalidValue`` where nothing is around the job, and for
        an id or content that XML cannot hold, and ``UnreadableDocument`` where places in an
        encoding cannot be found.
        """
        of_kind(id_, str, "the id of a File")
        of_kind(content, bytes | str, "what a File holds")
        content = content.encode(errors="surrogatepass") if isinstance(content, str) else content
        known = self.files.get(id_)
        file = written(MessageFile(id_, content, known.attributes if known else {})).encode()
        if known is None:
            if not self.wrapper or self._span.inside is None:
                raise InvalidValue(
                    id_, "a File of this document: it stands in a wrapper, and there is none"
                )
            end = self._span.children[-1].end if self._span.children else self._span.inside[0]
            blank = blank_before(self._text, self._span) if self._span.children else b""
            edit = ByteEdit(end, end, blank + file)
        else:
            assert known.element is not None
            span = self._span_of(known.element)
            inside = file[file.index(b">") + 1 : file.rindex(b"</")]
            edit = (
                ByteEdit(*span.inside, inside)
                if span.inside
                else ByteEdit(span.start, span.end, file)
            )
        return Document(self._encoded(applied(self._text, [edit])))

    @cached_property
    def _bundle(self) -> Bundle:
        return bundle(self.root)

    @cached_property
    def _text(self) -> bytes:
        """The document in UTF-8, whatever it declares, behind its byte order mark if it has one."""
        try:
            return self.data.decode(self.encoding).encode()
        except (LookupError, UnicodeDecodeError):  # libxml2 knows more encodings, and some better
            raise UnreadableDocument(unplaced("parts", self.encoding)) from None

    def _encoded(self, text: bytes) -> bytes:
        return text.decode().encode(self.encoding, "xmlcharrefreplace")

    @cached_property
    def _span(self) -> NodeSpan:
        return spans(self._text)

    def _span_of(self, element: Element) -> NodeSpan:
        parent = element.getparent()
        return self._span if parent is None else (
            self._span_of(parent).children[parent.index(element)]
        )  # fmt: skip
