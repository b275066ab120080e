// SPDX-License-Identifier: GPL-2.0-only
/* Attributes of received objects. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "attr.h"
#include "out.h"

/* Does the payload have the size that the kind needs? */
static bool attr_sane(const struct attr_desc *a, const struct nlattr *nla)
{
	uint16_t len = mnl_attr_get_payload_len(nla);

	switch (a->kind) {
	case KIND_U8:
		return len == 1;
	case KIND_U16:
		return len == 2;
	case KIND_U32:
	case KIND_S32:
		return len == 4;
	case KIND_U64:
		return len == 8;
	case KIND_STRING:
		return len && !((const char *)mnl_attr_get_payload(nla))[len - 1];
	case KIND_FLAG:
	case KIND_BINARY:
	case KIND_NEST:
		return true;
	case KIND_NONE:
	case KIND_PAD:
		break;
	}
	return false;
}

static const struct attr_desc *attr_desc(const struct attr_set *set,
					 const struct nlattr *nla)
{
	uint16_t type = mnl_attr_get_type(nla);
	const struct attr_desc *a;

	if (!type || type > set->max || type > ATTR_MAX)
		return NULL;
	a = &set->attr[type];
	return attr_sane(a, nla) ? a : NULL;
}

void item_parse(struct item *it, const struct attr_set *set,
		const struct nlattr *nest)
{
	const struct nlattr *nla;

	*it = (struct item){ .set = set, .nest = nest };
	mnl_attr_for_each_nested(nla, nest) {
		uint16_t type = mnl_attr_get_type(nla);

		if (attr_desc(set, nla) && !it->tb[type])
			it->tb[type] = nla;
	}
}

struct nlattr *nest_copy(const struct nlattr *nest)
{
	return memcpy(xrealloc(NULL, nest->nla_len), nest, nest->nla_len);
}

unsigned int attr_by_name(const struct attr_set *set, const char *name)
{
	unsigned int i;

	for (i = 1; i <= set->max; i++)
		if (set->attr[i].kind != KIND_PAD && set->attr[i].name &&
		    !strcmp(set->attr[i].name, name))
			return i;
	return 0;
}

static uint64_t attr_uint(const struct attr_desc *a, const struct nlattr *nla)
{
	switch (a->kind) {
	case KIND_U8:
		return mnl_attr_get_u8(nla);
	case KIND_U16:
		return mnl_attr_get_u16(nla);
	case KIND_U32:
		return mnl_attr_get_u32(nla);
	case KIND_U64:
		return mnl_attr_get_u64(nla);
	case KIND_S32:
		return (uint64_t)(int64_t)(int32_t)mnl_attr_get_u32(nla);
	case KIND_FLAG:
		return 1;
	default:
		return 0;
	}
}

uint64_t item_uint(const struct item *it, unsigned int type)
{
	return it->tb[type] ? attr_uint(&it->set->attr[type], it->tb[type]) : 0;
}

const char *item_str(const struct item *it, unsigned int type)
{
	return it->tb[type] ? mnl_attr_get_str(it->tb[type]) : "";
}

bool item_has(const struct item *it, unsigned int type)
{
	return it->tb[type];
}

const char *enum_name(const struct enum_desc *en, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < en->n; i++)
		if (en->entry[i].value == value)
			return en->entry[i].name;
	return NULL;
}

static bool same_word(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		int ca = *a == '_' ? '-' : tolower((unsigned char)*a);
		int cb = *b == '_' ? '-' : tolower((unsigned char)*b);

		if (ca != cb)
			return false;
	}
	return *a == *b;
}

bool enum_parse(const struct enum_desc *en, const char *word, uint32_t *value)
{
	unsigned int i;

	for (i = 0; i < en->n; i++) {
		if (!same_word(en->entry[i].name, word))
			continue;
		*value = en->entry[i].value;
		return true;
	}
	return false;
}

/* Flags as a list: "a,b" */
static void flags_text(const struct enum_desc *en, uint32_t value, char *buf)
{
	size_t len = 0;
	unsigned int i;

	buf[0] = '\0';
	for (i = 0; i < en->n; i++) {
		if (!(value & en->entry[i].value))
			continue;
		len += (size_t)snprintf(buf + len, ATTR_TEXT - len, "%s%s",
					len ? "," : "", en->entry[i].name);
		if (len >= ATTR_TEXT)
			return;
	}
	if (!len)
		strcpy(buf, "none");
}

static void uint_text(const struct attr_desc *a, uint64_t value, char *buf)
{
	const char *name;

	if (a->en && a->en->flags) {
		flags_text(a->en, (uint32_t)value, buf);
		return;
	}
	name = a->en ? enum_name(a->en, (uint32_t)value) : NULL;
	if (name)
		snprintf(buf, ATTR_TEXT, "%s", name);
	else if (a->hint == HINT_HEX)
		snprintf(buf, ATTR_TEXT, "0x%0*" PRIx64,
			 a->kind == KIND_U64 ? 16 : 8, value);
	else if (a->kind == KIND_S32)
		snprintf(buf, ATTR_TEXT, "%" PRId64, (int64_t)value);
	else
		snprintf(buf, ATTR_TEXT, "%" PRIu64, value);
}

static void binary_text(const struct attr_desc *a, const struct nlattr *nla,
			char *buf)
{
	const uint8_t *p = mnl_attr_get_payload(nla);
	size_t len = mnl_attr_get_payload_len(nla);
	const char *sep = a->hint == HINT_MAC ? ":" : "";
	size_t i, n = 0;

	if (a->hint == HINT_IPV6 && (len == 4 || len == 16)) {
		inet_ntop(len == 4 ? AF_INET : AF_INET6, p, buf, ATTR_TEXT);
		return;
	}
	buf[0] = '\0';
	for (i = 0; i < len && n + 4 < ATTR_TEXT; i++)
		n += (size_t)snprintf(buf + n, ATTR_TEXT - n, "%s%02x",
				      i ? sep : "", p[i]);
}

static void attr_text(const struct attr_desc *a, const struct nlattr *nla,
		      char *buf)
{
	switch (a->kind) {
	case KIND_STRING:
		snprintf(buf, ATTR_TEXT, "%s", mnl_attr_get_str(nla));
		break;
	case KIND_BINARY:
		binary_text(a, nla, buf);
		break;
	case KIND_FLAG:
		strcpy(buf, "yes");
		break;
	default:
		uint_text(a, attr_uint(a, nla), buf);
	}
}

char *item_text(const struct item *it, unsigned int type, char *buf)
{
	if (it->tb[type])
		attr_text(&it->set->attr[type], it->tb[type], buf);
	else
		strcpy(buf, "-");
	return buf;
}

static void json_enum(const struct attr_desc *a, const char *key, uint32_t value)
{
	const char *name;
	unsigned int i;

	if (!a->en->flags) {
		name = enum_name(a->en, value);
		if (name)
			js_str(key, name);
		else
			js_uint(key, value);
		return;
	}
	js_array(key);
	for (i = 0; i < a->en->n; i++)
		if (value & a->en->entry[i].value)
			js_str(NULL, a->en->entry[i].name);
	js_end();
}

static void json_value(const struct attr_desc *a, const char *key,
		       const struct nlattr *nla)
{
	char buf[ATTR_TEXT];
	struct item sub;

	switch (a->kind) {
	case KIND_NEST:
		item_parse(&sub, a->nested, nla);
		js_object(key);
		item_json(&sub);
		js_end();
		break;
	case KIND_FLAG:
		js_bool(key, true);
		break;
	case KIND_S32:
		js_int(key, (int64_t)attr_uint(a, nla));
		break;
	case KIND_U8:
	case KIND_U16:
	case KIND_U32:
	case KIND_U64:
		if (a->en)
			json_enum(a, key, (uint32_t)attr_uint(a, nla));
		else
			js_uint(key, attr_uint(a, nla));
		break;
	case KIND_STRING:
		js_str(key, mnl_attr_get_str(nla));
		break;
	default:
		attr_text(a, nla, buf);
		js_str(key, buf);
	}
}

static void json_multi(const struct item *it, unsigned int type)
{
	const struct attr_desc *a = &it->set->attr[type];
	const struct nlattr *nla;

	js_array(a->name);
	mnl_attr_for_each_nested(nla, it->nest)
		if (mnl_attr_get_type(nla) == type && attr_sane(a, nla))
			json_value(a, NULL, nla);
	js_end();
}

void item_json(const struct item *it)
{
	unsigned int i;

	for (i = 1; i <= it->set->max; i++) {
		const struct attr_desc *a = &it->set->attr[i];

		if (a->multi)
			json_multi(it, i);
		else if (it->tb[i])
			json_value(a, a->name, it->tb[i]);
	}
}

bool attr_comparable(const struct attr_desc *a)
{
	return a->name && a->kind != KIND_PAD && a->kind != KIND_NEST &&
	       a->kind != KIND_NONE;
}

/* "5" or "5-9" */
static bool parse_range(const char *word, uint64_t *low, uint64_t *high)
{
	char *end;

	if (!isdigit((unsigned char)*word))
		return false;
	errno = 0;
	*low = strtoull(word, &end, 0);
	*high = *low;
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*high = strtoull(end + 1, &end, 0);
	return !errno && !*end;
}

/*
 * An address of either family, or a prefix as in "10.0.0.0/8"; returns the
 * length of the address, 0 when it is none
 */
static size_t parse_addr(const char *word, uint8_t addr[16], unsigned int *bits)
{
	size_t n = strcspn(word, "/"), len = 0;
	uint64_t high, low;
	char host[64];

	if (n >= sizeof(host))
		return 0;
	memcpy(host, word, n);
	host[n] = '\0';
	if (inet_pton(AF_INET, host, addr) == 1)
		len = 4;
	else if (inet_pton(AF_INET6, host, addr) == 1)
		len = 16;
	*bits = (unsigned int)len * 8;
	if (!word[n])
		return len;
	if (!parse_range(word + n + 1, &low, &high) || low != high || low > *bits)
		return 0;
	*bits = (unsigned int)low;
	return len;
}

static bool same_prefix(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int rest = bits % 8;

	return !memcmp(a, b, bits / 8) &&
	       (!rest || !((a[bits / 8] ^ b[bits / 8]) >> (8 - rest)));
}

static bool check_number(const struct attr_desc *a, const char *word, char *why)
{
	static const uint64_t limit[] = {
		[KIND_U8] = UINT8_MAX, [KIND_U16] = UINT16_MAX,
		[KIND_U32] = UINT32_MAX, [KIND_S32] = INT32_MAX,
		[KIND_U64] = UINT64_MAX,
	};
	uint64_t low, high;

	if (!parse_range(word, &low, &high)) {
		snprintf(why, ATTR_TEXT, "\"%.40s\" is not a number", word);
		return false;
	}
	if (low > high) {
		snprintf(why, ATTR_TEXT, "no number is in %.40s", word);
		return false;
	}
	if (high > limit[a->kind]) {
		snprintf(why, ATTR_TEXT, "%.40s is too large, the limit is %" PRIu64,
			 word, limit[a->kind]);
		return false;
	}
	return true;
}

static bool check_enum(const struct attr_desc *a, const char *word, char *why)
{
	uint32_t value;
	unsigned int i;
	size_t n;

	if (enum_parse(a->en, word, &value))
		return true;
	n = (size_t)snprintf(why, ATTR_TEXT, "no %s \"%.20s\":", a->name, word);
	for (i = 0; i < a->en->n && n < ATTR_TEXT; i++)
		n += (size_t)snprintf(why + n, ATTR_TEXT - n, " %s",
				      a->en->entry[i].name);
	return false;
}

bool attr_check(const struct attr_desc *a, const char *word, char *why)
{
	unsigned int bits;
	uint8_t addr[16];

	if (a->en)
		return check_enum(a, word, why);
	switch (a->kind) {
	case KIND_STRING:
	case KIND_FLAG:
		return true;
	case KIND_BINARY:
		if (a->hint != HINT_IPV6 || parse_addr(word, addr, &bits))
			return true;
		snprintf(why, ATTR_TEXT,
			 "\"%.40s\" is not an address, nor a prefix of one", word);
		return false;
	default:
		return check_number(a, word, why);
	}
}

static bool equal_binary(const struct attr_desc *a, const struct nlattr *nla,
			 const char *word)
{
	char buf[ATTR_TEXT];
	unsigned int bits;
	uint8_t addr[16];
	size_t len;

	if (a->hint == HINT_IPV6) {
		len = parse_addr(word, addr, &bits);
		return len && len == mnl_attr_get_payload_len(nla) &&
		       same_prefix(addr, mnl_attr_get_payload(nla), bits);
	}
	binary_text(a, nla, buf);
	return same_word(buf, word);
}

bool item_equal(const struct item *it, unsigned int type, const char *word)
{
	const struct attr_desc *a = &it->set->attr[type];
	uint64_t n, low, high;
	uint32_t value;

	if (!it->tb[type])
		return false;
	if (a->en) {
		if (!enum_parse(a->en, word, &value))
			return false;
		n = item_uint(it, type);
		return a->en->flags ? n & value : n == value;
	}
	switch (a->kind) {
	case KIND_STRING:
		return same_word(item_str(it, type), word);
	case KIND_BINARY:
		return equal_binary(a, it->tb[type], word);
	case KIND_FLAG:
		return true;
	default:
		n = item_uint(it, type);
		return parse_range(word, &low, &high) && n >= low && n <= high;
	}
}
