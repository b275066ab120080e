# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A peer sends more TEST LINKs than the send queue is deep and receives no replies
# meanwhile: the replies without room wait, and none of them is lost. Beyond a bound the
# link fails.
#
# covers: LLC-14
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet llc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	app_bg limit:50 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close \
		slot:1 accept:0 recv:5 recv:1=ECONNRESET close
	app_end "server program"
	# a reason is counted once for the link, and for the connection that ends with it
	eq "a flood" "$(counter llc-flood)" 2
}

# asks N: CONFIRM LINK and ADD LINK need a receive each, six are left
asks() {
	local i
	cat <<-E
		set rq=8 repost=0
		connect $PEER 5000
		first_contact
		tx data len=5
	E
	for ((i = 0; i < $1; i++)); do echo "tx llc test_link${2:+ $2}"; done
}

client() {
	local i
	await up
	# more than the 256 of the send queue, less those that are not known to be
	# complete, and fewer than the 32 that may wait beyond that
	pup "265 questions" < <(
		asks 265
		echo "set repost=1"
		echo "qp receives 200"
		for ((i = 0; i < 265; i++)); do echo "rx llc test_link reply=1"; done
		printf '%s\n' "rx data len=5" "close"
	)
	pup "330 questions" < <(
		asks 330 expect=any
		echo "rx rst"
	)
}
