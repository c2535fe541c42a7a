/* One question before the answer: who has guessed looks at the numbers differently. */
#ifndef KVSTEP_CHAPTERS_ASK_H
#define KVSTEP_CHAPTERS_ASK_H

/* Prints the question and waits for any key. Does nothing unless standard input and
 * output are a terminal that this process may use now. Ctrl-C ends the program, as
 * ever. */
void ask_prediction(const char *question);

#endif
