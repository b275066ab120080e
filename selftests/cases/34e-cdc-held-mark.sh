# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# F names a message that is still under way on the old link. Behind F come a CDC that
# marks urgent data, and one without P and U, as of a peer that sends each mark once: both
# are deferred, and when the message has arrived the mark takes effect, at its position.
#
# covers: CDC-35 FO-08
# module: ours none
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet cdc links failover
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast max_links=2 t_lgr_idle=60000
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 pollfor:pri:5000=PRI mark:pri \
		recvoob=a recvtext:2=aa atmark=1 recvtext:2=cd recv:1=eof close
	app_end "server program"
	eq "validation that failed" "$(counter cdc-validation)" 0
}

client() {
	await up
	pup "puppet as client" <<-E
		$(two_link_group)
		link 2
		tx cdc flags=F skip nowait
		write off=5 len=3 byte=61
		tx cdc advance=3 flags=P,U seq=+1
		tx cdc flags=0
		rx none 200ms
		# the message that F names
		link 1
		tx cdc prod=5 seq=-3 flags=0
		await pri
		wait cdc cons=8
		link 2
		tx data cd
		close
		check offences 0
	E
}
