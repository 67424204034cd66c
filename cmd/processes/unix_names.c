/* SPDX-License-Identifier: MIT */
#include "cmd/processes/unix_names.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmd/processes/inside.h"

enum { MAX_STRAY = 64 }; /* messages that are no answer to the question */

struct unix_question {
    struct nlmsghdr      head;
    struct unix_diag_req body;
};

static int open_socket(int root, void *arg, int *fd)
{
    (void)root, (void)arg;
    *fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    return *fd < 0 ? errno : 0;
}

/* Takes the name out of the attributes of an answer. */
static int take_name(const char *at, size_t size, struct sxs_unix_name *out)
{
    struct nlattr head;
    while (size >= sizeof(head)) {
        memcpy(&head, at, sizeof(head));
        size_t len = head.nla_len, whole = NLA_ALIGN(len);
        if (len < sizeof(head) || len > size)
            return EBADMSG;
        if ((head.nla_type & NLA_TYPE_MASK) == UNIX_DIAG_NAME) {
            const char *name = at + sizeof(head);
            len -= sizeof(head);
            if (len < 2 || len >= sizeof(out->text) || (*name && *name != '/'))
                return EINVAL;
            memcpy(out->text, name, len);
            if (!*name)
                out->text[0] = '@';
            out->text[len] = '\0';
            return *name || strlen(out->text) == len ? 0 : EINVAL;
        }
        at += whole < size ? whole : size;
        size -= whole < size ? whole : size;
    }
    return EINVAL;
}

/* Reads an answer about the socket @inode. */
static int read_answer(const char *bytes, size_t size, uint64_t inode, struct sxs_unix_name *out)
{
    const struct nlmsghdr *head = (const void *)bytes;
    const char            *body = bytes + NLMSG_HDRLEN;
    struct unix_diag_msg   about;
    size = head->nlmsg_len < size ? head->nlmsg_len : size;
    size_t left = size - NLMSG_HDRLEN;
    if (head->nlmsg_type == NLMSG_ERROR) {
        int err = 0;
        if (left >= sizeof(err))
            memcpy(&err, body, sizeof(err));
        return err < 0 ? -err : EBADMSG;
    }
    if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY || left < sizeof(about))
        return EBADMSG;
    memcpy(&about, body, sizeof(about));
    if (about.udiag_ino != inode)
        return EBADMSG;
    out->listens = about.udiag_state == TCP_LISTEN;
    return take_name(body + sizeof(about), left - sizeof(about), out);
}

/* Receives the answer to question @number. Others may write to this socket, too, if they have rights in
 * that network: only the kernel's message counts. It is there when the question has been sent. */
static int receive(int fd, uint32_t number, uint64_t inode, struct sxs_unix_name *out)
{
    union {
        struct nlmsghdr head;
        char            bytes[4096];
    } answer;
    for (int i = 0; i < MAX_STRAY; i++) {
        struct sockaddr_nl from = {0};
        socklen_t          from_size = sizeof(from);
        ssize_t n = recvfrom(fd, &answer, sizeof(answer), MSG_DONTWAIT, (struct sockaddr *)&from,
                             &from_size);
        if (n < 0 && errno != EINTR)
            return errno == EAGAIN ? EIO : errno;
        if (n >= NLMSG_HDRLEN && from_size == sizeof(from) && from.nl_family == AF_NETLINK &&
            from.nl_pid == 0 && answer.head.nlmsg_len >= NLMSG_HDRLEN &&
            answer.head.nlmsg_seq == number)
            return read_answer(answer.bytes, (size_t)n, inode, out);
    }
    return EIO;
}

int sxs_unix_names_ask(int fd, uint64_t inode, struct sxs_unix_name *out)
{
    static uint32_t      number;
    struct sockaddr_nl   kernel = {.nl_family = AF_NETLINK};
    struct unix_question q = {
        .head = {.nlmsg_len = sizeof(q),
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST,
                 .nlmsg_seq = ++number},
        .body = {.sdiag_family = AF_UNIX,
                 .udiag_states = ~0u,
                 .udiag_ino = (uint32_t)inode,
                 .udiag_show = UDIAG_SHOW_NAME,
                 .udiag_cookie = {~0u, ~0u}},
    };
    memset(out, 0, sizeof(*out));
    if (inode > UINT32_MAX)
        return ENOENT;
    if (sendto(fd, &q, sizeof(q), 0, (struct sockaddr *)&kernel, sizeof(kernel)) !=
        (ssize_t)sizeof(q))
        return errno;
    return receive(fd, number, inode, out);
}

int sxs_unix_names_open(const struct sxs_process *p)
{
    struct sxs_unix_name none;
    int                  fd = -1;
    int err = p->other.net ? sxs_inside_call(p, SXS_INSIDE_NET, open_socket, NULL, &fd)
                           : open_socket(-1, NULL, &fd);
    /* The kernel refuses inode 0, but says that no socket is found when it has no unix_diag. */
    if (!err && sxs_unix_names_ask(fd, 0, &none) == EINVAL)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}
