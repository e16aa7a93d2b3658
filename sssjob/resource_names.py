"""Which Resource a name means: GPUs have several names, and their models no fixed spelling.

A licence is the Resource ``name="License"`` with its name as the type, as the standard has it; it
may also stand as ``type="License"`` with its own name.

>>> gpu_model({"name": "gpus"}), gpu_model({"name": "gres/gpu:A100"}), gpu_model({"name": "tape"})
('', 'A100', None)
>>> key({"name": "gpu", "type": "A100 "}) == key({"name": "GPU", "type": "a100"})
True

A payload imports this module: it imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

GPU = "GPU"  # as we write it
LICENSE = "License"  # the name of a Resource that is a licence, or its type

# What batch systems and their sites call GPUs, in small letters.
GPU_NAMES = ("gpu", "gpus", "ngpus")
_GRES = ("gres/", "gres:")  # what Slurm puts before a name


def gpu_model(attributes: Mapping[str, str]) -> str | None:
    """The model of GPUs as it is written, "" for those of any model; None of other resources.

    ``attributes`` are those of a Resource. The model is its ``type``, or else what stands behind
    the name, as in ``gres/gpu:a100`` of Slurm. A licence is no GPU, whatever its name is.
    """
    return _gpu_model(attributes.get("name", ""), attributes.get("type", ""))


# decision 392
def license_name(attributes: Mapping[str, str]) -> str | None:
    """The name of a licence, "" of one without; None of a Resource that is no licence.

    >>> license_name({"name": "essl", "type": "License"})
    'essl'
    >>> license_name({"name": "License", "type": "essl"})
    'essl'
    """
    name, kind = attributes.get("name", ""), attributes.get("type", "").strip()
    if kind == LICENSE:
        return name.strip()
    return kind if kind and name.strip() == LICENSE else None


def license_attributes(name: str) -> dict[str, str]:
    """The attributes of a licence, as we write them and the standard does (3.2.10).

    >>> license_attributes("MATLAB")
    {'name': 'License', 'type': 'MATLAB'}
    """
    return {"name": LICENSE, "type": name}


def is_license(attributes: Mapping[str, str]) -> bool:
    """Whether a Resource with these attributes is a licence."""
    return license_name(attributes) is not None


def named(name: str) -> str:
    """The name of a Resource as we write it: GPU for all that means GPUs of any model.

    >>> named("gpus"), named("Tapes")
    ('GPU', 'Tapes')
    """
    return GPU if _gpu_model(name, "") == "" else name


def key(attributes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What tells one Resource from another, as attributes with their values.

    Models of GPUs are compared without regard to case; all else is compared as it is written.
    """
    if name := license_name(attributes):
        return tuple(license_attributes(name).items())
    model = gpu_model(attributes)
    if model is None:
        said = ((each, attributes.get(each, "").strip()) for each in ("name", "type"))
        return tuple((name, value) for name, value in said if value)
    return (("name", GPU), ("type", model.lower())) if model else (("name", GPU),)


def _gpu_model(name: str, kind: str) -> str | None:
    text = name.strip()
    if text[: len(_GRES[0])].lower() in _GRES:
        text = text[len(_GRES[0]) :]
    word, _, model = text.partition(":")
    if word.lower() not in GPU_NAMES or kind.strip() == LICENSE:
        return None
    return kind.strip() or model.strip()
