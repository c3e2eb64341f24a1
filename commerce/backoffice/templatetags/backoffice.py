from django import template

from commerce.backoffice.display import money

register = template.Library()
register.simple_tag(money, name="money")
