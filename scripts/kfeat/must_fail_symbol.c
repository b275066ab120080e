// SPDX-License-Identifier: GPL-2.0-only
/* Canary: a function that does not exist is noticed. */
#include <linux/net.h>

int probe(void)
{
	return smcr_no_such_function();
}
