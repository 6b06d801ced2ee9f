/* Orders in which a sparse matrix's factors have fewer numbers. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sparse_solve.h"

/* ---- reverse Cuthill-McKee ---- */

/* Puts the last of a list at its place by degree. */
static void place(int *list, int count, const int *degree) {
  int moved = list[count - 1], at = count - 1;
  for (; at > 0 && degree[list[at - 1]] > degree[moved]; at--) list[at] = list[at - 1];
  list[at] = moved;
}

/* Neighbours of each row, in the matrix or its transpose: those of i from start[i] on, degree[i] of them. */
static void connect(const struct sparse *a, int *start, int *degree, int *neighbour) {
  for (int i = 0; i < a->n; i++) {
    for (int k = a->row[i]; k < a->row[i + 1]; k++) degree[i]++, degree[a->column[k]]++;
  }
  for (int i = 0, at = 0; i < a->n; i++) start[i] = at, at += degree[i], degree[i] = 0;
  for (int i = 0; i < a->n; i++) {
    for (int k = a->row[i]; k < a->row[i + 1]; k++) {
      int j = a->column[k];
      neighbour[start[i] + degree[i]++] = j, neighbour[start[j] + degree[j]++] = i;
    }
  }
}

bool sparse_order(const struct sparse *a, int *order) {
  size_t n = (size_t)a->n, entries = (size_t)a->row[a->n];
  if (entries > INT_MAX / 2) return false;
  int *start = calloc(n, sizeof *start), *degree = calloc(n, sizeof *degree);
  int *neighbour = malloc((2 * entries + 1) * sizeof *neighbour);
  bool *seen = calloc(n, sizeof *seen), good = start && degree && neighbour && seen;
  if (good) connect(a, start, degree, neighbour);
  for (int done = 0, count = 0; good && done < a->n; done++) {
    if (done == count) { /* the next part that hangs together, from its row with the fewest neighbours */
      int least = -1;
      for (int i = 0; i < a->n; i++) {
        if (!seen[i] && (least < 0 || degree[i] < degree[least])) least = i;
      }
      order[count++] = least, seen[least] = true;
    }
    int before = count, row = order[done];
    for (int k = 0; k < degree[row]; k++) {
      int next = neighbour[start[row] + k];
      if (seen[next]) continue;
      seen[next] = true, order[count++] = next;
      place(order + before, count - before, degree);
    }
  }
  for (int i = 0, j = a->n - 1; good && i < j; i++, j--) {
    int moved = order[i];
    order[i] = order[j], order[j] = moved;
  }
  free(start), free(degree), free(neighbour), free(seen);
  return good;
}

/* ---- minimum degree ---- */

/* The quotient graph. The list of a row that is LEFT has other such rows and ELEMENTs: eliminated rows, whose members all
 * are neighbours of each other. An element in a list takes the place of a neighbour or element that went, so that no list
 * grows. */
enum state { LEFT, ELEMENT, ABSORBED };
struct graph {
  int n;
  int *start, *length, *neighbour;   /* lists: those of i from start[i] on */
  int *state, **member, *members;    /* of an element */
  int *degree, *head, *next, *before; /* rows that are left, in lists by degree */
  int *seen, turn;                   /* rows that were visited in this turn */
};

static void take_out(struct graph *g, int i) {
  if (g->before[i] >= 0) g->next[g->before[i]] = g->next[i];
  else g->head[g->degree[i]] = g->next[i];
  if (g->next[i] >= 0) g->before[g->next[i]] = g->before[i];
}

static void put_in(struct graph *g, int i, int degree) {
  g->degree[i] = degree, g->before[i] = -1, g->next[i] = g->head[degree];
  if (g->next[i] >= 0) g->before[g->next[i]] = i;
  g->head[degree] = i;
}

static int visit(struct graph *g, int i, int *to, int count) {
  if (g->state[i] != LEFT || g->seen[i] == g->turn) return count;
  g->seen[i] = g->turn;
  if (to) to[count] = i;
  return count + 1;
}

/* The rows that are left beside a row, into `to` unless that is NULL. Returns how many. */
static int beside(struct graph *g, int row, int *to) {
  int count = 0;
  g->seen[row] = ++g->turn;
  for (int k = 0; k < g->length[row]; k++) {
    int other = g->neighbour[g->start[row] + k];
    if (g->state[other] == LEFT) count = visit(g, other, to, count);
    for (int e = 0; g->state[other] == ELEMENT && e < g->members[other]; e++) {
      count = visit(g, g->member[other][e], to, count);
    }
  }
  return count;
}

/* A row becomes an element, and its own elements a part of it; `inside` is 1 for its members. False: no memory. */
static bool eliminate(struct graph *g, int row, int *found, int *inside) {
  int count = beside(g, row, found);
  if (!(g->member[row] = malloc(((size_t)count + 1) * sizeof(int)))) return false;
  memcpy(g->member[row], found, (size_t)count * sizeof(int));
  for (int k = 0; k < g->length[row]; k++) {
    int other = g->neighbour[g->start[row] + k];
    if (g->state[other] != ELEMENT) continue;
    free(g->member[other]);
    g->member[other] = NULL, g->state[other] = ABSORBED;
  }
  g->members[row] = count, g->state[row] = ELEMENT;
  for (int k = 0; k < count; k++) inside[found[k]] = 1;
  for (int k = 0; k < count; k++) {
    int i = found[k], *list = g->neighbour + g->start[i], length = 0;
    for (int e = 0; e < g->length[i]; e++) {
      int other = list[e];
      if (other != row && g->state[other] != ABSORBED && !inside[other]) list[length++] = other;
    }
    list[length++] = row, g->length[i] = length;
  }
  for (int k = 0; k < count; k++) {
    take_out(g, found[k]);
    put_in(g, found[k], beside(g, found[k], NULL));
    inside[found[k]] = 0;
  }
  return true;
}

static bool by_degree(struct graph *g, int *order, int *found, int *inside) {
  for (int i = 0; i < g->n; i++) g->head[i] = -1;
  for (int i = 0; i < g->n; i++) put_in(g, i, beside(g, i, NULL));
  for (int done = 0, least = 0; done < g->n; done++) {
    while (g->head[least] < 0) least++;
    if (least == g->n - done - 1) { /* all that are left are neighbours of each other */
      for (int i = 0; i < g->n; i++) {
        if (g->state[i] == LEFT) order[done++] = i;
      }
      break;
    }
    int row = order[done] = g->head[least];
    take_out(g, row);
    if (!eliminate(g, row, found, inside)) return false;
    least = least ? least - 1 : 0; /* a neighbour has lost one neighbour, at most */
  }
  return true;
}

bool sparse_degree_order(const struct sparse *a, int *order) {
  enum { ARRAYS = 11 };
  size_t n = (size_t)a->n, entries = (size_t)a->row[a->n];
  if (entries > INT_MAX / 2) return false;
  int *rows = calloc(ARRAYS * n, sizeof *rows), *neighbour = malloc((2 * entries + 1) * sizeof *neighbour);
  int **member = calloc(n, sizeof *member);
  bool good = rows && neighbour && member;
  if (good) {
    struct graph g = {.n = a->n, .start = rows, .length = rows + n, .neighbour = neighbour, .state = rows + 2 * n,
                      .member = member, .members = rows + 3 * n, .degree = rows + 4 * n, .head = rows + 5 * n,
                      .next = rows + 6 * n, .before = rows + 7 * n, .seen = rows + 8 * n};
    connect(a, g.start, g.length, neighbour);
    good = by_degree(&g, order, rows + 9 * n, rows + 10 * n);
  }
  for (size_t i = 0; i < n && member; i++) free(member[i]);
  free(rows), free(neighbour), free(member);
  return good;
}
