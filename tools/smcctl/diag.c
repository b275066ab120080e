// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnosis codes of CLC Declines. RFC 7609 leaves them to the implementation:
 * these are the codes that in-tree Linux SMC and this module send.
 */
#include <stddef.h>
#include "cmd.h"
#include "diag.h"

static const struct {
	uint32_t code;
	const char *text;
} codes[] = {
	{ 0x01010000, "out of memory" },
	{ 0x02010000, "CONFIRM LINK was not answered or could not be sent" },
	{ 0x02020000, "ADD LINK was not answered or could not be sent" },
	{ 0x03000000, "configuration error, e.g. no usable IP prefix" },
	{ 0x03010000, "SMC-R was not offered on SYN or SYN-ACK" },
	{ 0x03020000, "an IPsec policy applies" },
	{ 0x03030000, "no SMC device" },
	{ 0x03030001, "no SMC-D device" },
	{ 0x03030002, "no SMC-R device" },
	{ 0x03030003, "no ISMv2 hardware" },
	{ 0x03030004, "the Proposal has no SMCv2 extension" },
	{ 0x03030005, "the Proposal has no SMC-Dv2 extension" },
	{ 0x03030006, "the Proposal has no system EID" },
	{ 0x03030007, "no SMC-Dv2 device" },
	{ 0x03030008, "the Proposal has no user EID" },
	{ 0x03030009, "release number differs from the negotiated one" },
	{ 0x0303000a, "maximum of connections is out of range" },
	{ 0x0303000b, "maximum of links is out of range" },
	{ 0x03040000, "the Accept names a technology that was not offered" },
	{ 0x03050000, "RMBE eye catchers are not supported" },
	{ 0x03060000, "a socket option needs plain TCP" },
	{ 0x03070000, "not in the same IP subnet" },
	{ 0x03080000, "VLAN of the interface could not be determined" },
	{ 0x03090000, "VLAN could not be registered with the ISM device" },
	{ 0x030a0000, "link group has no active link" },
	{ 0x030b0000, "the Accept names an unknown link" },
	{ 0x030c0000, "version mismatch" },
	{ 0x030d0000, "ISM device has no DMB left" },
	{ 0x030e0000, "no route to the peer's RoCE address" },
	{ 0x030f0000, "routing to the peer's RoCE address is inconsistent" },
	{ 0x04000000, "out of sync: the link group is unknown there" },
	{ 0x05000000, "declined" },
	{ 0x06010000, "local policy" },
	{ 0x06020000, "link group has no room for another RMB" },
	{ 0x06030000, "queue pair could not be set up" },
	{ 0x06040000, "memory could not be registered" },
	{ 0x06050000, "reserved MTU value" },
	{ 0x06060000, "reserved RMBE size" },
	{ 0x06070000, "CONFIRM LINK does not match CLC" },
	{ 0x06080000, "RDMA device went away" },
	{ 0x06090000, "too many link groups or negotiations" },
	{ 0x060a0000, "RKey refused" },
	{ 0x060b0000, "first contact was not settled in time" },
	{ 0x060c0000, "TCP simultaneous open" },
	{ 0x060d0000, "too many first contacts under way" },
	{ 0x060e0000, "memory limit reached" },
	{ 0x060f0000, "memory cgroup is full" },
	{ 0x06100000, "RMB was not confirmed on the link" },
	{ 0x06110000, "TCP connection is in a sockmap" },
	{ 0x06120000, "element is in use by another address" },
	{ 0x06130000, "link group is another host's" },
	{ 0x09990000, "internal error" },
	{ 0x09990001, "table of remote keys is full" },
	{ 0x09990002, "queue pair could not be made ready" },
	{ 0x09990003, "memory could not be registered" },
};

const char *diag_text(uint32_t code)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].code == code)
			return codes[i].text;
	return NULL;
}
