/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Index of objects of one kind by a number that only grows, for netlink dumps.
 * A dump in several parts continues behind the last number that it has
 * reported. It finds that place in O(log n), even if objects were added or
 * removed between the parts. A lock of the owner guards the index.
 */
#ifndef _SMCR_IDS_H
#define _SMCR_IDS_H

#include <linux/rbtree.h>
#include <linux/types.h>

struct smcr_ids {
	struct rb_root root;
	u64 last;		/* number of the newest object */
	u32 gen;		/* changes when an object is added or removed */
};

struct smcr_id {
	struct rb_node rb;	/* cleared while the object is in no index */
	u64 id;
};

static inline void smcr_ids_init(struct smcr_ids *ids)
{
	ids->root = RB_ROOT;
}

/* Add an object, under the next number */
static inline void smcr_ids_add(struct smcr_ids *ids, struct smcr_id *node)
{
	struct rb_node **link = &ids->root.rb_node, *parent = NULL;

	node->id = ++ids->last;
	WRITE_ONCE(ids->gen, ids->gen + 1);
	while (*link) {		/* the new number is the highest */
		parent = *link;
		link = &parent->rb_right;
	}
	rb_link_node(&node->rb, parent, link);
	rb_insert_color(&node->rb, &ids->root);
}

/*
 * Remove an object. Nothing happens if it is not in the index. If it was
 * perhaps never added, RB_CLEAR_NODE() has to be called for it first.
 */
static inline void smcr_ids_del(struct smcr_ids *ids, struct smcr_id *node)
{
	if (RB_EMPTY_NODE(&node->rb))
		return;
	WRITE_ONCE(ids->gen, ids->gen + 1);
	rb_erase(&node->rb, &ids->root);
	RB_CLEAR_NODE(&node->rb);
}

static inline struct smcr_id *smcr_ids_next(const struct smcr_id *node)
{
	return rb_entry_safe(rb_next(&node->rb), struct smcr_id, rb);
}

/* The first object with a number above @id, or NULL */
static inline struct smcr_id *smcr_ids_after(const struct smcr_ids *ids, u64 id)
{
	struct rb_node *rb = ids->root.rb_node;
	struct smcr_id *node, *found = NULL;

	while (rb) {
		node = rb_entry(rb, struct smcr_id, rb);
		if (node->id > id) {
			found = node;
			rb = rb->rb_left;
		} else {
			rb = rb->rb_right;
		}
	}
	return found;
}

#endif /* _SMCR_IDS_H */
