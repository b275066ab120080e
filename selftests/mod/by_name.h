/* SPDX-License-Identifier: GPL-2.0-only */
/* An RDMA device by its name: 7.2 has ib_device_get_by_name() for itself only */
#ifndef BY_NAME_H
#define BY_NAME_H

#include <linux/string.h>
#include <rdma/ib_verbs.h>

static const char *by_name_wanted;
static struct ib_device *by_name_found;

static int by_name_add(struct ib_device *dev)
{
	if (!by_name_found && !strcmp(dev_name(&dev->dev), by_name_wanted) &&
	    ib_device_try_get(dev))
		by_name_found = dev;
	return -EOPNOTSUPP;	/* no client of it */
}

/* With a reference, for ib_device_put(); NULL if there is none */
static struct ib_device *device_by_name(const char *name)
{
	static struct ib_client client = {
		.name = "by_name",
		.add = by_name_add,
	};

	by_name_wanted = name;
	if (ib_register_client(&client))
		return NULL;
	ib_unregister_client(&client);
	return by_name_found;
}

#endif /* BY_NAME_H */
