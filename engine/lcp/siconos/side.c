/* The other half of the comparison with Siconos: TestSiconos builds it and talks to it over a pipe, a line for a line.

     p n M q     a problem, M by rows, in decimal              -> ok
     s k         solve it k times by lexicographic Lemke       -> nanoseconds of processor time per solve, info, z
     v k         the same by Siconos' pivot solver (Lemke)

   Siconos takes dense matrices by columns and writes about rays to standard output, which goes nowhere here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <lcp_cst.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

int main(void) {
  FILE *out = fdopen(dup(1), "w");
  if (!out || !freopen("/dev/null", "w", stdout)) return 1;
  SolverOptions *lemke = solver_options_create(SICONOS_LCP_LEMKE), *pivot = solver_options_create(SICONOS_LCP_PIVOT);
  lemke->iparam[SICONOS_IPARAM_MAX_ITER] = pivot->iparam[SICONOS_IPARAM_MAX_ITER] = 10000;
  pivot->iparam[SICONOS_LCP_IPARAM_PIVOTING_METHOD_TYPE] = SICONOS_LCP_PIVOT_LEMKE;
  LinearComplementarityProblem p = {0};
  double *z = NULL, *w = NULL;
  char cmd;
  int k;
  while (scanf(" %c %d", &cmd, &k) == 2) {
    if (cmd == 'p') {
      double *m = malloc(sizeof(double) * k * k);
      p.size = k;
      p.q = realloc(p.q, sizeof(double) * k);
      z = realloc(z, sizeof(double) * k);
      w = realloc(w, sizeof(double) * k);
      for (int i = 0; i < k * k; i++)
        if (scanf("%lf", &m[i % k * k + i / k]) != 1) return 1;
      for (int i = 0; i < k; i++)
        if (scanf("%lf", &p.q[i]) != 1) return 1;
      if (p.M) NM_clear(p.M);
      p.M = NM_create_from_data(NM_DENSE, k, k, m);
      fprintf(out, "ok\n");
    } else {
      int info = 0;
      double t = now();
      for (int i = 0; i < k; i++) {
        memset(z, 0, sizeof(double) * p.size);
        memset(w, 0, sizeof(double) * p.size);
        info = 0;
        if (cmd == 's')
          lcp_lexicolemke(&p, z, w, &info, lemke);
        else
          lcp_pivot(&p, z, w, &info, pivot);
      }
      fprintf(out, "%.1f %d", (now() - t) / k, info);
      for (int i = 0; i < p.size; i++) fprintf(out, " %.17g", z[i]);
      fprintf(out, "\n");
    }
    fflush(out);
  }
  return 0;
}
