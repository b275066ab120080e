# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A peer that moves a connection as Linux does: after F its producer cursor is where its
# last completion was, and counts up again from there, with new sequence numbers. The
# module has more already: such messages announce nothing, no byte comes twice, what
# is new arrives. More than a ring back, or without F before it, the connection ends.
#
# covers: FO-10 FO-11 CDC-19
# module: ours none
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet cdc links failover
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# Element of 64 KiB; where the cursor goes when 100 bytes were sent, without F or too far
BAD=("prod=99" "prod=0" "F prod=101 prod_wrap=0xffff" "F prod=65535 prod_wrap=0xffff" "F prod=0 prod_wrap=0xffff"
	"F prod=65536" "F prod=100 prod_wrap=2")

server() {
	local i calls=()
	fast max_links=2 rmem=65536 t_lgr_idle=60000
	for i in "${BAD[@]}"; do calls+=(slot:2 accept:0 recv:100 recv:1=ECONNABORTED close); done
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:100 send:5 recv:50 send:5 recv:70 send:5 "${calls[@]}" \
		slot:1 send:7 recv:1=eof close
	app_end "server program"
	eq "violations" "$(($(counter cdc-cursor) + $(counter cdc-prod)))" ${#BAD[@]}
	eq "validation that failed" "$(counter cdc-validation)" 0
}

client() {
	local i n=1
	await up
	pup "puppet as client" < <(
		cat <<-E
			$(links 2)
			connect $PEER 5000
			first_contact until=add_link
			add_link 2
			accepted
			tx data len=100
			rx data len=5
			# the last 60 bytes again, in pieces, then 50 new ones
			move 2
			tx cdc flags=F seq=-1
			tx cdc prod=40
			tx cdc prod=40
			tx cdc prod=70
			tx cdc prod=99
			tx cdc prod=100
			tx data len=50
			rx data len=5
			# other cursors that go back have no effect; marks at old
			# positions are none
			tx cdc flags=F seq=-1
			tx cdc prod=120 flags=B
			tx cdc prod=140 flags=U
			tx cdc prod=140 flags=P
			tx data len=70
			rx data len=5
		E
		for i in "${BAD[@]}"; do
			n=$((n + 1))
			cat <<-E
				conn $n
				link 1
				connect $PEER 5000
				reuse
				accepted
				tx data len=100
				taken
			E
			[[ $i != F* ]] || echo "tx cdc flags=F seq=-1"
			cat <<-E
				tx cdc ${i#F }
				wait cdc has=A
				tx cdc flags=A
				rx rst
			E
		done
		cat <<-E
			conn 1
			rx data len=7
			close
			check offences 0
		E
	)
}
