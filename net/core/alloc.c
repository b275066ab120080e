// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocators of RMB elements and link numbers, RFC 7609 2.1, 2.2.4. See
 * alloc.h.
 */
#include "alloc.h"
#include "env.h"

/**
 * smcr_elems_init() - make all elements free
 * @e: allocator
 * @n: number of elements, 1..255
 */
void smcr_elems_init(struct smcr_elems *e, u16 n)
{
	memset(e, 0, sizeof(*e));
	e->n = min_t(u16, n, SMCR_ELEMS_MAX);
	e->n_free = e->n;
}

/**
 * smcr_elems_get() - take a free element
 * @e: allocator
 *
 * Return: index 1..n, 0 when none is free.
 */
u8 smcr_elems_get(struct smcr_elems *e)
{
	u16 i;

	if (!e->n_free)
		return 0;
	i = e->next;
	while (e->state[i] != SMCR_ELEM_FREE)
		i = i + 1 < e->n ? i + 1 : 0;

	e->state[i] = SMCR_ELEM_BUSY;
	e->n_free--;
	e->next = i + 1 < e->n ? i + 1 : 0;
	return (u8)(i + 1);
}

/* Change the state of @index from @from to @to; false if it is not @from */
static bool elem_move(struct smcr_elems *e, u8 index, u8 from, u8 to)
{
	if (!index || index > e->n || e->state[index - 1] != from)
		return false;
	e->state[index - 1] = to;
	if (to == SMCR_ELEM_FREE)
		e->n_free++;
	return true;
}

/**
 * smcr_elems_put() - give a busy element back
 * @e: allocator
 * @index: from smcr_elems_get()
 * @quarantine: the peer may still write to the element, so it is not free
 *		before smcr_elems_release()
 *
 * Return: false if @index was not busy; nothing changes then.
 */
bool smcr_elems_put(struct smcr_elems *e, u8 index, bool quarantine)
{
	return elem_move(e, index, SMCR_ELEM_BUSY,
			 quarantine ? SMCR_ELEM_QUARANTINE : SMCR_ELEM_FREE);
}

/**
 * smcr_elems_release() - end the quarantine of an element
 * @e: allocator
 * @index: element
 *
 * Return: false if @index was not in quarantine; nothing changes then.
 */
bool smcr_elems_release(struct smcr_elems *e, u8 index)
{
	return elem_move(e, index, SMCR_ELEM_QUARANTINE, SMCR_ELEM_FREE);
}

/**
 * smcr_elems_idle() - may the RMB be deleted?
 * @e: allocator
 *
 * Return: true if no element is busy or in quarantine (RMB-25).
 */
bool smcr_elems_idle(const struct smcr_elems *e)
{
	return e->n_free == e->n;
}

static bool num_used(const struct smcr_link_nums *l, u8 num)
{
	return l->used[num / 8] & 1 << num % 8;
}

/**
 * smcr_link_num_get() - assign a number to a new link
 * @l: numbers of the group
 *
 * Return: the next free number, cyclically after the one assigned last, 1..255;
 * 0 when all are in use.
 */
u8 smcr_link_num_get(struct smcr_link_nums *l)
{
	u8 num = l->last;
	u32 i;

	for (i = 1; i <= 255; i++) {
		num = num == 255 ? 1 : num + 1;
		if (smcr_link_num_take(l, num)) {
			l->last = num;
			return num;
		}
	}
	return 0;
}

/**
 * smcr_link_num_take() - mark a number as used
 * @l: numbers of the group
 * @num: number
 *
 * Return: false if @num is 0 or in use.
 */
bool smcr_link_num_take(struct smcr_link_nums *l, u8 num)
{
	if (!num || num_used(l, num))
		return false;
	l->used[num / 8] |= 1 << num % 8;
	return true;
}

/**
 * smcr_link_num_put() - free the number of a link that is gone
 * @l: numbers of the group
 * @num: number
 */
void smcr_link_num_put(struct smcr_link_nums *l, u8 num)
{
	l->used[num / 8] &= ~(1 << num % 8);
}
