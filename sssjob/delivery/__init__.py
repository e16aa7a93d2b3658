"""What was delivered, folded into jobs: those of a document, of a directory, or of a store."""

from sssjob.delivery.directory import DirectoryDelivery
from sssjob.delivery.document import Delivery, Tally
from sssjob.delivery.store import StoreDelivery

__all__ = ["Delivery", "DirectoryDelivery", "StoreDelivery", "Tally"]
