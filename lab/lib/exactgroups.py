# SPDX-License-Identifier: GPL-2.0
"""Kinds of work for the exact lane: what its instructions are for, and what happens how many times in an operation.

Functions of the kernel are sorted by name, as a guest has nothing but its symbols; those of a module by the
module, and smcr's by the file that its object came from.
"""

import bisect
import os
import re
import subprocess

OTHER = "other"
ADAPTER = "(the adapter)"
# Kinds by the names of functions; the first that matches counts.
KINDS = [(kind, re.compile(rf"(?:{names})(?:\.\w+)*")) for kind, names in (
    ("copying", r"rep_movs_alternative|mem(?:cpy|move)(?:_\w+)?|_?copy_\w+|_copy_\w+|skb_copy_\w+|csum_\w+|__check_object_size"
                r"|check_stack_object|__virt_addr_valid|is_vmalloc_addr"),
    ("clearing", r"memset(?:_\w+)?|clear_page\w*|clear_user\w*|rep_stos_\w+"),
    ("scheduler", r"_*schedule\w*|_*switch_\w+|finish_task_switch|psi_\w+|_*update_(?:load|curr|rq|entity|deadline|cfs|tg|blocked)\w*"
                  r"|(?:_*(?:en|de)queue_(?:task|entity|entities|pushable)|requeue_delayed)\w*|_*pick_\w+|put_prev_\w+|_*set_next_\w+|try_to_wake_up"
                  r"|ttwu_\w+|wake_up_\w+|_*wake_up\w*|wakeup_\w+|check_preempt_\w+|avg_vruntime|vruntime_\w+|place_entity|reweight_\w+"
                  r"|sched_\w+|native_sched_clock|record_times|_*task_rq_lock|task_\w+|cpuacct_\w+|dl_server_\w+|clear_delayed|rcu_note_context_switch"
                  r"|mm_cid_\w+|native_load_tls|cr4_\w+|save_fpregs\w*|select_\w+|autoremove_\w+|woken_\w+|wait_woken|default_wake_function"
                  r"|_*(?:add|remove)_wait_queue|_*(?:prepare|finish)_(?:to_)?(?:wait|swait)\w*|resched_\w+|idle_cpu|do_idle|cpuidle_\w+|tick_nohz_\w+"
                  r"|nohz_\w+|available_idle_cpu|rb_\w+|_*rb_insert\w*|arch_scale_\w+|_*cond_resched|prepare_task_switch|_*calc_delta\w*|x86_virt_spec_ctrl"
                  r"|blkcg_maybe_\w+|mem_cgroup_handle_over_high|yield\w*|call_function_\w+|llist_\w+|kick_ilb"),
    ("workers", r"process_one_work|worker_\w+|_*queue_(?:delayed_)?work\w*|insert_work|kick_pool|pwq_\w+|move_linked_works|_*cancel_\w*work\w*|_*flush_work"
                r"|try_to_grab_pending|get_work_pool|set_work_\w+|find_worker\w*|delayed_work_timer_fn|mod_delayed_work_on|wq_\w+|kthread_\w+|clear_work_data"
                r"|start_flush_work|_*cancel_work"),
    ("system calls", r"entry_SYSCALL\w*|do_syscall_\w+|syscall_\w+|x64_sys_call|_*x64_sys_\w+|_*sys_\w+|ksys_\w+|vfs_(?:read|write)\w*|rw_verify_area|_*fd?get\w*"
                     r"|fput\w*|_*fput\w*|sock_(?:read|write)_iter|sock_(?:send|recv)msg\w*|sockfd_\w+|import_\w+|security_\w+|apparmor_\w+|aa_\w+|tomoyo_\w+|bpf_lsm_\w+"
                     r"|arch_exit_to_\w+|exit_to_user_\w+|_*rseq_\w+|switch_fpu_return|restore_fpregs\w*|fpregs_\w+|xfd_\w+|move_addr_\w+|_*[gp]et_user_\w+|strnlen\w*"
                     r"|do_sock_\w+|alloc_fd|_*close_\w+|filp_\w+|do_(?:accept|dentry_open)\w*|_*alloc_file\w*|ima_\w+|fsnotify\w*|locks_\w+|task_work_\w+"),
    ("interrupts", r"asm_\w+|_*sysvec_\w+|_*common_interrupt|handle_softirqs|_*do_softirq\w*|_*irq_exit\w*|irq_enter\w*|irqentry_\w+|error_(?:entry|return)"
                   r"|raise_softirq\w*|_*raise_softirq\w*|hrtimer_\w+|_*hrtimer_\w+|_*local_bh_\w+|_*napi_\w+|paranoid_\w+|clockevents_\w+|lapic_\w+|native_apic_\w+"
                   r"|ktime_\w+|read_tsc|timekeeping_\w+|_*run_timers?\w*|call_timer_fn|timer_\w+|_*mod_timer|detach_if_pending|lock_timer_base|enqueue_timer|"
                   r"_*timer_\w+|_*add_timer\w*|del_timer\w*|get_timer_base|calc_wheel_index|init_timer_key|_*try_to_del_timer\w*|tmigr_\w+|irqtime_\w+|account_\w+"),
    ("RDMA core", r"irq_poll_\w+|_*irq_poll_\w+|ib_\w+|rdma_\w+"),
    ("DMA", r"dma_\w+|swiotlb_\w+|iommu_\w+|arch_sync_dma\w*"),
    ("TCP/IP", r"_*tcp_\w+|_*ip_\w+|_*ip_queue_xmit|inet_\w+|_*inet_\w+|_*skb_\w+|_*alloc_skb\w*|_*build_skb\w*|_*kfree_skb\w*|consume_skb|napi_\w+|net_\w+|_*netif_\w+"
               r"|_*dev_\w+|_*neigh_\w+|eth_\w+|fib_\w+|_*fib_\w+|rt_\w+|dst_\w+|_*sk_\w+|sk_\w+|_*sock_\w+|lock_sock\w*|_*lock_sock\w*|release_sock|_*release_sock|nf_\w+"
               r"|loopback_\w+|process_backlog|enqueue_to_backlog|validate_xmit_\w+|qdisc_\w+|_*qdisc_\w+|raw_\w+|xfrm_\w+|_*xfrm_\w+|ipv4_\w+|secure_\w+|bpf_skops_\w+"
               r"|arp_\w+|_*ipv4_\w+|reqsk_\w+|_*reqsk_\w+|_*netdev_\w+|netdev_\w+|kernel_\w+|simple_copy_\w+|chacha_\w+|siphash\w*|_*siphash\w*|get_random_\w+|crng_\w+"
               r"|_*pskb_\w+|_*copy_skb_\w+|ipvs?_\w+|icmp_\w+|_*ethtool_\w+|packet_\w+|bictcp_\w+|cubictcp_\w+|lookup_\w+|bbr_\w+|rtnl_\w+|_*local_bh_enable_ip"),
    ("memory", r"kmem_cache_\w+|_*kmalloc\w*|kfree\w*|kvfree\w*|kvmalloc\w*|_*kvmalloc\w*|_+slab_\w+|slab_\w+|_*alloc_pages?\w*|_*free_pages?\w*|free_\w+|get_page_\w+|_*rmqueue\w*"
               r"|mod_\w*(?:state|page)\w*|_*mod_\w*(?:state|page)\w*|memcg_\w+|_*memcg_\w+|obj_cgroup_\w+|mem_cgroup_\w+|_*mem_cgroup_\w+|folio\w*|_*folio\w*|page_\w+|get_obj_\w+"
               r"|refill_\w+|drain_\w+|try_charge\w*|fill_\w+|put_cpu_partial|get_partial_\w+|new_slab|allocate_slab|setup_object|shuffle_\w+|alloc_inode|_*destroy_inode|inode_\w+|_*inode_\w+"
               r"|new_inode\w*|evict|iput_?\w*|d_\w+|_*d_\w+|dput|dentry_\w+|_*dentry_\w+|truncate_\w+|sock_alloc\w*|zone_\w+|post_alloc_\w+|prep_\w+|list_lru_\w+|call_rcu\w*|_*call_rcu\w*"
               r"|rcu_\w+|_*rcu_(?!read)\w+|percpu_\w+|pcpu_\w+|_*slab_\w+|___slab_alloc"),
    ("locks and lists", r"_raw_\w+|_*rcu_read_\w+|mutex_\w+|_*mutex_\w+|down_\w+|up_\w+|_*list_\w+|queued_\w+|native_queued_\w+|xas_\w+|_*xas_\w+|xa_\w+|_*xa_\w+|idr_\w+|radix_\w+"
                        r"|refcount_\w+|_*rht_\w+|rhashtable_\w+|rwsem_\w+|_*x86_(?:indirect|return)_\w+|osq_\w+|ida_\w+|jhash\w*|hash_\w+|memcmp|strcmp|strlen|memchr\w*|sized_str\w+"),
)]
MODULES = {"ib_core": "RDMA core", "ib_uverbs": "RDMA core", "rdma_rxe": "soft RoCE", "veth": "TCP/IP", "smc": "in-tree smc"}
# Functions that are little else than a string instruction, which counts as often as it repeats
STRINGS = re.compile(r"rep_(?:movs|stos)_\w+|mem(?:cpy|move|set)(?:_\w+)?|clear_page\w*|copy_page\w*")
# What is counted by the calls of functions. A completion is one that smcr has handled; the in-tree module's are not known by name.
EVENTS = (
    ("task switches", r"__switch_to_asm"),
    ("wake-ups", r"try_to_wake_up"),
    ("works", r"process_one_work"),
    ("interrupts", r"asm_(?:sysvec_\w+|common_interrupt)"),
    ("softirqs", r"handle_softirqs"),
    ("completion queue runs", r"__ib_process_cq \[ib_core\]"),
    ("completions", r"(?:rx_done|tx_done|reg_done|inv_done|drain_done)(?:\.\w+)* \[smcr\]"),
    ("system calls", r"do_syscall_64"),
)


def files(folder):
    """{function: the file that it is in} of a module whose objects are in `folder`; of functions of one name, all files."""
    found = {}
    for top, _, names in os.walk(os.path.join(folder, "net")):
        for name in sorted(names):
            if not name.endswith(".o"):
                continue
            path = os.path.join(top, name)
            r = subprocess.run(["nm", path], capture_output=True, text=True, check=False)
            source = os.path.relpath(path, os.path.join(folder, "net"))[:-2] + ".c"
            for line in r.stdout.splitlines():
                m = re.fullmatch(r"[0-9a-f]+ [tT] (\w\S*)", line)
                if m:
                    found.setdefault(m[1], []).append(source)
    return {name: ", ".join(sorted(set(sources))) for name, sources in found.items()}


def kind(function, sources):
    """The kind of work that a function is for."""
    m = re.fullmatch(r"(\S+) \[(\S+)\]", function)
    if m:
        if m[2] == "smcr":
            return f"smcr {sources[m[1]]}" if m[1] in sources else "smcr"
        return MODULES.get(m[2], m[2])
    if function == "programs":
        return function
    return next((k for k, names in KINDS if names.fullmatch(function)), OTHER)


def kinds(found, sources):
    """{kind: instructions} of {function: (instructions, the adapter's among them)}; the adapter's are a kind of their own."""
    sums = {}
    for function, (n, adapter) in found.items():
        for k, part in ((kind(function, sources), n - adapter), (ADAPTER, adapter)):
            if part:
                sums[k] = sums.get(k, 0) + part
    return sums


def strings(found):
    """Instructions of {function: (instructions, the adapter's among them)} that copy and clear, apart from the adapter's."""
    return sum(n - adapter for function, (n, adapter) in found.items() if STRINGS.fullmatch(function))


def calls(counts, syms):
    """{function: calls} of [(address, instructions, adapter's, runs)]: a function's first block begins at its address."""
    addrs, names = syms
    found = {}
    for addr, _, _, runs in counts:
        i = bisect.bisect_left(addrs, addr)
        if i < len(addrs) and addrs[i] == addr:
            found[names[i]] = found.get(names[i], 0) + runs
    return found


def events(counts, syms):
    """{event: how many times}"""
    found = calls(counts, syms)
    return {event: sum(n for f, n in found.items() if re.fullmatch(names, f)) for event, names in EVENTS}
