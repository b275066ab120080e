# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The receiver's state is that of the last CDC, all of it and nothing else: after every
# message of a script the module shows the cursors and flags that it carried. A dropped
# message changes nothing.
#
# covers: CDC-07 CDC-46
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

show() {
	"$SMCCTL" -ja conn | jq -c '[.. | objects | select(has("rx-seq"))][0] | {
		prod: ."rx-prod".bytes, cons: ."tx-cons".bytes, seq: ."rx-seq", unread, unconsumed, state, flags }'
}

# then_ N DESC SEQ PROD CONS FLAGS [STATE]: after the N-th step; 1000 bytes were sent, none is read
then_() {
	local want
	want="{\"prod\":$4,\"cons\":$5,\"seq\":$3,\"unread\":$4,\"unconsumed\":$((1000 - $5)),\"state\":\"${7:-active}\",\"flags\":[$6]}"
	await "cdc$1"
	shown() { [ "$(show)" = "$want" ]; }
	eventually 3 shown || :
	eq "$2" "$(show)" "$want"
	mark "next$1"
}

server() {
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 set:OOBINLINE:1 send:1000 await:over recv:1300 recv:1=eof close
	then_ 1 "data and P" 1 300 0 ''
	then_ 2 "a consumer cursor" 2 300 400 ''
	then_ 3 "B" 3 300 400 '"peer-blocked"'
	then_ 4 "U and R, and not B" 4 300 400 '"peer-asks"'
	then_ 5 "an old number: nothing" 4 300 400 '"peer-asks"'
	then_ 6 "both cursors" 6 1300 1000 ''
	then_ 7 "D" 7 1300 1000 '"peer-done"' app-close-wait1
	then_ 8 "C" 8 1300 1000 '"peer-done","peer-closed"' app-close-wait1
	app_end "server program"
}

client() {
	await up
	pup "puppet as client" <<-E
		set bsize=1 strict=0
		connect $PEER 5000
		first_contact
		rx data len=1000
		tx data len=300 flags=P
		mark cdc1
		await next1
		consume 400
		mark cdc2
		await next2
		tx cdc flags=B
		mark cdc3
		await next3
		tx cdc flags=U,R
		mark cdc4
		await next4
		# the same number twice: dropped, whatever it carries
		tx cdc seq=-1 cons=900 flags=B skip
		mark cdc5
		await next5
		tx data len=1000
		consume 600
		mark cdc6
		await next6
		tx cdc flags=D
		mark cdc7
		await next7
		tx cdc flags=D,C
		mark cdc8
		await next8
		mark over
		wait cdc has=C
		tx fin
		rx eof
	E
}
