# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# bash completion for smcctl(8)

# Keys of an object, or the values of one, as smcctl itself knows them
_smcctl_keys() {
	"${COMP_WORDS[0]}" "$@" 2>/dev/null | cut -d' ' -f1
}

# Position of the object's word and, counted without options, of the current one
_smcctl_position() {
	local i
	obj='' nth=0 first=''
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-n | --netns | -w | --watch | --diff | --library) i=$((i + 1)) ;;
		-*) ;;
		*)
			if [ -z "$obj" ]; then
				obj=${COMP_WORDS[i]} objpos=$i
			else
				nth=$((nth + 1))
				[ -n "$first" ] || first=${COMP_WORDS[i]}
			fi ;;
		esac
	done
}

_smcctl_words() {
	local cur=${COMP_WORDS[COMP_CWORD]}
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_smcctl_list() {
	local skip=0
	case $first in list | show) skip=1 ;; esac
	if [ "$first" = keys ]; then
		[ "$nth" != 1 ] || _smcctl_words "$(_smcctl_keys "$obj" keys)"
	elif [ $(((nth - skip) % 2)) = 1 ] && [ "$first" != delete ]; then
		_smcctl_words "$(_smcctl_keys "$obj" keys "${COMP_WORDS[COMP_CWORD-1]}")"
	elif [ "$nth" = 0 ]; then
		case $obj in
		linkgroup | lgr) _smcctl_words "list keys delete $(_smcctl_keys "$obj" keys)" ;;
		*) _smcctl_words "list keys $(_smcctl_keys "$obj" keys)" ;;
		esac
	elif [ "$first" != delete ]; then
		_smcctl_words "$(_smcctl_keys "$obj" keys)"
	fi
}

_smcctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	local obj objpos=0 nth first
	_smcctl_position
	COMPREPLY=()
	if [ "$obj" = run ]; then
		if [ "$nth" = 0 ] && [ "$prev" = --library ]; then
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		elif [ "$nth" = 0 ] && [[ $cur == -* ]]; then
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
	-w | --watch | --diff) return ;;
	esac
	if [[ $cur == -* ]]; then
		_smcctl_words "-a --all -d --detail -j --json -p --pretty -n --netns
			-w --watch --reasons --diff -h --help --version"
		return
	fi
	case $obj in
	'') _smcctl_words "show conn linkgroup link device rmb stats run" ;;
	conn | linkgroup | lgr | link | device | dev | rmb) _smcctl_list ;;
	esac
}

complete -F _smcctl smcctl
