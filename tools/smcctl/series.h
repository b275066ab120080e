/* SPDX-License-Identifier: GPL-2.0-only */
/* The counters of a namespace, and those of the reasons, as arrays. */
#ifndef SMCCTL_SERIES_H
#define SMCCTL_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample {
	uint32_t id;
	char *name;
	char *text;		/* of a reason */
	bool has_diag;
	uint32_t diag;		/* CLC diagnosis code of a reason */
	uint64_t value;
};

struct series {
	struct sample *s;
	size_t n;
};

/* Return an exit status; the series must be freed in any case */
int series_counters(struct series *to);
int series_reasons(struct series *to);
void series_free(struct series *ser);

/* Subtract from the values of @to those of @from, an earlier reading */
void series_subtract(struct series *to, const struct series *from);
/* Highest value first */
void series_sort(struct series *ser);

#endif /* SMCCTL_SERIES_H */
