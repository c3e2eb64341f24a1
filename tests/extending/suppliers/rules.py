from commerce.rules import Fields, nullable, row_id, text

MAX_NAME = 100
SUPPLIER = Fields(required={"name": text(MAX_NAME)}, optional={"location_id": nullable(row_id)})
