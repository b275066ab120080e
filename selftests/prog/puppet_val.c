// SPDX-License-Identifier: GPL-2.0-only
/* The puppet peer: fields of messages by name, and bytes by offset. */
#include "puppet.h"

static u64 get_num(const struct field *f, const void *obj)
{
	const u8 *p = (const u8 *)obj + f->off;

	switch (f->len) {
	case 1:
		return *p;
	case 2:
		return *(const u16 *)p;
	case 4:
		return *(const u32 *)p;
	default:
		return *(const u64 *)p;
	}
}

static void set_num(const struct field *f, void *obj, u64 v)
{
	u8 *p = (u8 *)obj + f->off;

	switch (f->len) {
	case 1:
		*p = (u8)v;
		break;
	case 2:
		*(u16 *)p = (u16)v;
		break;
	case 4:
		*(u32 *)p = (u32)v;
		break;
	default:
		*(u64 *)p = v;
	}
}

static const struct field *find(const struct field *f, const char *arg,
				size_t len)
{
	for (; f->name; f++)
		if (strlen(f->name) == len && !memcmp(f->name, arg, len))
			return f;
	return NULL;
}

bool field_set(const struct field *table, void *obj, const char *arg)
{
	size_t len = strcspn(arg, "=");
	const struct field *f;
	const char *v;
	u64 old;

	if (arg[len] != '=')
		return false;
	f = find(table, arg, len);
	if (!f)
		return false;
	v = arg + len + 1;

	if (f->type == F_HEX) {
		u8 *p = (u8 *)obj + f->off;
		u8 buf[64];

		if (*v == '~') {		/* something else than it was */
			p[f->len - 1] ^= 0x55;
			return true;
		}
		if (!strcmp(v, "0")) {
			memset(p, 0, f->len);
			return true;
		}
		if (parse_hex(v, buf, sizeof(buf)) != f->len)
			bad("%s has %d bytes", f->name, f->len);
		memcpy(p, buf, f->len);
		return true;
	}
	old = get_num(f, obj);
	if (*v == '+')
		set_num(f, obj, old + parse_num(v + 1));
	else if (*v == '-')
		set_num(f, obj, old - parse_num(v + 1));
	else if (*v == '^')
		set_num(f, obj, old ^ parse_num(v + 1));
	else if (*v == '~')
		set_num(f, obj, ~old);
	else
		set_num(f, obj, parse_num(v));
	return true;
}

void field_show(const struct field *f, const void *obj, char *out, size_t max)
{
	size_t n = 0;

	*out = 0;
	for (; f->name && n + 60 < max; f++) {
		if (f->type == F_HEX &&
		    smcr_bytes_zero((const u8 *)obj + f->off, f->len))
			continue;
		if (f->type == F_HEX)
			n += (size_t)snprintf(out + n, max - n, " %s=%s",
				f->name, hex((const u8 *)obj + f->off, f->len));
		else
			n += (size_t)snprintf(out + n, max - n,
				f->len > 2 ? " %s=0x%llx" : " %s=%llu",
				f->name, get_num(f, obj));
	}
}

char check_text[400];

static enum check verdict(bool ok, const char *fmt, ...)
{
	va_list ap;

	if (ok)
		return CHECK_OK;
	va_start(ap, fmt);
	vsnprintf(check_text, sizeof(check_text), fmt, ap);
	va_end(ap);
	return CHECK_MISS;
}

enum check field_check(const struct field *table, const void *obj,
		       const char *arg)
{
	size_t len = strcspn(arg, "=!<>");
	const struct field *f = find(table, arg, len);
	const char *op = arg + len, *v;
	u64 have, want;
	bool ok;

	if (!f || !*op)
		return CHECK_NONE;
	v = op + (op[0] == '=' ? 1 : 2);
	if (op[0] != '=' && op[1] != '=')
		bad("'%s': =, !=, <= or >=", arg);

	if (f->type == F_HEX) {
		const u8 *p = (const u8 *)obj + f->off;
		u8 buf[64] = { 0 };

		if (strcmp(v, "0") && parse_hex(v, buf, sizeof(buf)) != f->len)
			bad("%s has %d bytes", f->name, f->len);
		ok = !memcmp(p, buf, f->len) == (op[0] == '=');
		return verdict(ok, "%s is %s", f->name, hex(p, f->len));
	}
	have = get_num(f, obj);
	want = parse_num(v);
	switch (op[0]) {
	case '=':
		ok = have == want;
		break;
	case '!':
		ok = have != want;
		break;
	case '<':
		ok = have <= want;
		break;
	default:
		ok = have >= want;
	}
	return verdict(ok, "%s is %llu (0x%llx), not %s", f->name, have, have,
		       arg + len);
}

static void patch(struct wire *w, const char *arg, char how)
{
	u8 buf[1024];
	char *end;
	long off = strtol(arg, &end, 0);
	int n, i;

	if (*end != '=' || off < 0)
		bad("'@%s': @OFFSET=HEX", arg);
	n = parse_hex(end + 1, buf, sizeof(buf));
	if (how == 'g') {
		if (off > w->len || w->len + n > SEND_MAX)
			bad("the message has %d bytes", w->len);
		memmove(w->buf + off + n, w->buf + off,
			(size_t)(w->len - off));
		memcpy(w->buf + off, buf, (size_t)n);
		w->len += n;
		return;
	}
	if (off + n > w->len)
		bad("the message has %d bytes", w->len);
	for (i = 0; i < n; i++)
		w->buf[off + i] = how == 'x' ? w->buf[off + i] ^ buf[i] :
					       buf[i];
}

/* Offsets count in the message as encoded; cut= and add= come as written */
bool wire_arg(struct wire *w, const char *arg)
{
	if (*arg == '@') {
		patch(w, arg + 1, 's');
	} else if (!strncmp(arg, "xor@", 4)) {
		patch(w, arg + 4, 'x');
	} else if (!strncmp(arg, "grow@", 5)) {
		patch(w, arg + 5, 'g');
	} else if (!strncmp(arg, "cut=", 4)) {
		int n = (int)parse_num(arg + 4);

		if (n > w->len)
			bad("the message has %d bytes", w->len);
		w->len = n;
	} else if (!strncmp(arg, "add=", 4)) {
		w->len += parse_hex(arg + 4, w->buf + w->len,
				    SEND_MAX - w->len);
	} else if (!strncmp(arg, "text=", 5)) {
		int n = (int)strlen(arg + 5);

		if (w->len + n > SEND_MAX)
			bad("too long");
		memcpy(w->buf + w->len, arg + 5, (size_t)n);
		w->len += n;
	} else if (!strcmp(arg, "bytewise")) {
		w->bytewise = true;
	} else if (!strcmp(arg, "nowait")) {
		w->nowait = true;
	} else if (!strcmp(arg, "expect=any")) {
		w->any = true;
	} else if (!strcmp(arg, "expect=err")) {
		w->err = true;
	} else if (!strcmp(arg, "expect=gone")) {
		w->gone = true;
	} else if (!strcmp(arg, "skip")) {
		w->skip = true;
	} else {
		return false;
	}
	return true;
}

void wire_apply(struct wire *w, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (argv[i][0] && !wire_arg(w, argv[i]))
			bad("'%s': no such field", argv[i]);
}

enum check wire_check(const u8 *buf, int len, const char *arg)
{
	u8 want[256];
	char *end;
	long off;
	int n;

	if (*arg != '@')
		return CHECK_NONE;
	off = strtol(arg + 1, &end, 0);
	if (*end != '=')
		bad("'%s': @OFFSET=HEX", arg);
	n = parse_hex(end + 1, want, sizeof(want));
	if (off + n > len)
		return verdict(false, "there are only %d bytes", len);
	return verdict(!memcmp(buf + off, want, (size_t)n),
		       "bytes at %ld are %s", off, hex(buf + off, (size_t)n));
}
