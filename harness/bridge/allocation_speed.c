/* SPDX-License-Identifier: MIT */
/* allocation_speed.c - work that consists of allocation, for the benchmarks. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/bridge/bridge.h"

static double cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A pair of malloc() and free() at a time, with 64 blocks alive; the blocks are not used. */
static void run_pairs(int n)
{
    void *volatile blocks[64] = {NULL};
    unsigned random = 1;
    for (int i = 0; i < n; i++) {
        unsigned at;
        random = random * 1664525 + 1013904223;
        at = random >> 26;
        free(blocks[at]);
        blocks[at] = malloc(16 + (random >> 16 & 255));
    }
    for (size_t i = 0; i < 64; i++)
        free(blocks[i]);
}

struct node {
    struct node *left, *right;
    char         text[24];
};

static struct node *make_tree(int depth)
{
    struct node *node = malloc(sizeof(*node));
    if (!node)
        return NULL;
    memset(node->text, depth, sizeof(node->text));
    node->left = depth ? make_tree(depth - 1) : NULL;
    node->right = depth ? make_tree(depth - 1) : NULL;
    return node;
}

static unsigned count_tree(const struct node *node)
{
    return node ? 1 + (unsigned)node->text[0] + count_tree(node->left) + count_tree(node->right)
                : 0;
}

static void free_tree(struct node *node)
{
    if (!node)
        return;
    free_tree(node->left);
    free_tree(node->right);
    free(node);
}

#define DEPTH 11

/* Trees of 4,095 nodes, which are built, walked through and freed. */
static void run_trees(int n)
{
    volatile unsigned sum = 0;
    for (; n > 0; n -= (1 << (DEPTH + 1)) - 1) {
        struct node *tree = make_tree(DEPTH);
        sum += count_tree(tree);
        free_tree(tree);
    }
}

/* ---- a library that allocates much ---------------------------------------------------------------- */

#define ELEMENTS 500 /* of a document */

/* A document of some 100 bytes an element, or NULL. */
static char *make_document(size_t *size)
{
    static const char head[] = "<all>\n", tail[] = "</all>\n";
    char             *text = malloc(ELEMENTS * 120 + 100), *to = text;
    if (!text)
        return NULL;
    to = stpcpy(to, head);
    for (int i = 0; i < ELEMENTS; i++)
        to += sprintf(
            to, "  <item number=\"%d\" name=\"a name of number %d\"><part>text %d</part></item>\n",
            i, i % 97, i % 1009);
    to = stpcpy(to, tail);
    *size = (size_t)(to - text);
    return text;
}

/* Parses documents into trees of nodes and frees these. Returns 0, or -1 without libxml2. */
static int run_xml(int n)
{
    void *library = dlopen("libxml2.so.2", RTLD_NOW);
    void *(*read)(const char *, int, const char *, const char *, int);
    void (*release)(void *);
    size_t size = 0;
    char  *text = library ? make_document(&size) : NULL;
    if (!text)
        return -1;
    *(void **)&read = dlsym(library, "xmlReadMemory");
    *(void **)&release = dlsym(library, "xmlFreeDoc");
    for (; read && release && n > 0; n -= ELEMENTS)
        release(read(text, (int)size, NULL, NULL, 0));
    free(text);
    return n <= 0 ? 0 : -1;
}

double sxsbridge_allocation_ns(const char *work, int n)
{
    double began = cpu_now();
    if (strcmp(work, "pairs") == 0)
        run_pairs(n);
    else if (strcmp(work, "trees") == 0)
        run_trees(n);
    else if (strcmp(work, "xml") == 0 && run_xml(n) == 0)
        return (cpu_now() - began) / n;
    else
        return -1;
    return (cpu_now() - began) / n;
}
