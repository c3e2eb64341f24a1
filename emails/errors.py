from commerce.errors import Refusal


class TemplateNotFound(Refusal):
    status = 404
    code = "template_not_found"
    title = "There is no template of this key"
