from django import template

from commerce.backoffice.display import format_money

register = template.Library()
register.simple_tag(format_money, name="money")
