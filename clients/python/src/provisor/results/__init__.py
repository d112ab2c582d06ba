"""Results with methods of their own.

A class here extends the dataclass of the same name in provisor.schemas, which has the members, and takes its place in
all replies; the generated calls name it as what they return. A module a topic, as there.
"""
from .operations import Operation as Operation
