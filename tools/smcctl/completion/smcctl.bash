# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# bash completion for smcctl(8)

# Output of smcctl in the network namespace that the command line names
_smcctl_ask() {
	"${COMP_WORDS[0]}" "${netns[@]}" "$@" 2>/dev/null
}

# Keys of an object, or the values of one
_smcctl_keys() {
	_smcctl_ask "$@" | cut -d' ' -f1
}

# The first column of a list
_smcctl_column() {
	local word rest
	_smcctl_ask "$1" | while read -r word rest; do echo "$word"; done | tail -n +2
}

# Values of a key: existing devices or link groups, or the names of its values
_smcctl_values() {
	case $1 in
	dev-name) _smcctl_column device ;;
	lgr-id) _smcctl_column linkgroup ;;
	*) _smcctl_keys "$obj" keys "$1" ;;
	esac
}

# The object that a word means: its name, an alias or a beginning of these
_smcctl_object() {
	local name found=()
	for name in show conn linkgroup link device rmb stats monitor run help connection lgr dev; do
		[ "$name" != "$1" ] || { found=("$name"); break; }
		[[ $name != "$1"* ]] || found+=("$name")
	done
	case ${found[*]} in
	connection | 'conn connection') obj=conn ;;
	lgr) obj=linkgroup ;;
	dev | 'device dev') obj=device ;;
	*' '*) obj=$1 ;;
	*) obj=${found[0]:-$1} ;;
	esac
}

# The object, its position, and the words behind it without options
_smcctl_position() {
	local i
	obj='' objpos=0 words=() netns=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-n | --netns) netns=(-n "${COMP_WORDS[i+1]}"); i=$((i + 1)) ;;
		-w | --watch | --diff | --library | --timeout | --rcvbuf) i=$((i + 1)) ;;
		-*) ;;
		*)
			if [ -z "$obj" ]; then
				_smcctl_object "${COMP_WORDS[i]}"
				objpos=$i
			else
				words+=("${COMP_WORDS[i]}")
			fi ;;
		esac
	done
}

_smcctl_words() {
	local cur=${COMP_WORDS[COMP_CWORD]}
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_smcctl_list() {
	local word key='' verbs=''
	case ${words[0]:-} in
	'')
		verbs='list keys'
		[ "$obj" != linkgroup ] || verbs+=' balance delete' ;;
	keys)
		[ ${#words[@]} != 1 ] || _smcctl_words "$(_smcctl_keys "$obj" keys)"
		return ;;
	balance | delete | del)
		[ ${#words[@]} != 1 ] || _smcctl_words "$(_smcctl_values lgr-id)"
		return ;;
	list | show) words=("${words[@]:1}") ;;
	esac
	for word in "${words[@]}"; do
		if [ -n "$key" ]; then
			key=''
		elif [ "$word" != not ] && [ "$word" != '!' ]; then
			key=$word
		fi
	done
	if [ -n "$key" ]; then
		_smcctl_words "$(_smcctl_values "$key")"
	else
		_smcctl_words "$verbs not $(_smcctl_keys "$obj" keys)"
	fi
}

_smcctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	local obj objpos words netns
	_smcctl_position
	COMPREPLY=()
	if [ "$obj" = run ]; then
		if [ ${#words[@]} = 0 ] && [ "$prev" = --library ]; then
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		elif [ ${#words[@]} = 0 ] && [[ $cur == -* ]]; then
			_smcctl_words "-q --quiet -v --verbose --library --help"
		elif declare -F _command_offset > /dev/null; then
			_command_offset $((objpos + 1))
		else
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		fi
		return
	fi
	case $prev in
	-n | --netns)
		_smcctl_words "$(ls /run/netns 2>/dev/null)"
		return ;;
	-w | --watch | --diff | --timeout | --rcvbuf) return ;;
	esac
	if [[ $cur == -* ]]; then
		_smcctl_words "-a --all -d --detail -j --json --pretty -p --processes -s --statistics
			-n --netns -w --watch --reasons --diff --timeout --rcvbuf -h --help -V --version"
		return
	fi
	case $obj in
	'') _smcctl_words "show conn linkgroup link device rmb stats monitor run help" ;;
	conn | linkgroup | link | device | rmb) _smcctl_list ;;
	help) [ ${#words[@]} != 0 ] || _smcctl_words "show conn linkgroup link device rmb stats monitor run" ;;
	stats) [ ${#words[@]} != 0 ] || _smcctl_words "--reasons --diff --all" ;;
	monitor)
		case ${#words[@]} in
		0) _smcctl_words "linkgroup --json --timeout --rcvbuf" ;;
		1) _smcctl_words "$(_smcctl_values lgr-id)" ;;
		esac ;;
	esac
}

complete -F _smcctl smcctl
