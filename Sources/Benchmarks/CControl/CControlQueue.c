#define _GNU_SOURCE
#include "CControl.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct {
    uintptr_t *words;
    size_t count;
    size_t capacity;
} Batch;

struct CControlQueue {
    /// Adaptive: it is held for about 10 ns, so a thread spins for a moment before it sleeps.
    pthread_mutex_t lock;
    Batch waiting;
    bool isEnding;
    int descriptor;
    CControlHandler handler;
    void *context;
};

static void signalDescriptor(int descriptor) {
    uint64_t one = 1;
    while (write(descriptor, &one, sizeof one) < 0 && errno == EINTR) {}
}

CControlQueue *CControlQueueCreate(CControlHandler handler, void *context) {
    CControlQueue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) return NULL;
    queue->lock = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    queue->handler = handler;
    queue->context = context;
    queue->descriptor = eventfd(0, EFD_CLOEXEC);
    if (queue->descriptor >= 0) return queue;
    free(queue);
    return NULL;
}

void CControlQueueRun(CControlQueue *queue) {
    Batch taken = {0};
    for (bool isEnding = false; !isEnding;) {
        uint64_t signals;
        while (read(queue->descriptor, &signals, sizeof signals) < 0 && errno == EINTR) {}
        pthread_mutex_lock(&queue->lock);
        Batch full = queue->waiting;
        queue->waiting = taken;
        isEnding = queue->isEnding;
        pthread_mutex_unlock(&queue->lock);
        for (size_t index = 0; index < full.count; index++) queue->handler(queue->context, full.words[index]);
        full.count = 0;
        taken = full;
    }
    close(queue->descriptor);
    free(taken.words);
    free(queue->waiting.words);
    free(queue);
}

static void growBatch(Batch *batch) {
    batch->capacity = batch->capacity == 0 ? 16 : batch->capacity * 2;
    batch->words = realloc(batch->words, batch->capacity * sizeof *batch->words);
    if (batch->words != NULL) return;
    fputs("CControl: there is no memory for what waits in the queue\n", stderr);
    abort();
}

void CControlQueueAppend(CControlQueue *queue, uintptr_t word) {
    pthread_mutex_lock(&queue->lock);
    Batch *batch = &queue->waiting;
    if (batch->count == batch->capacity) growBatch(batch);
    bool wasEmpty = batch->count == 0;
    batch->words[batch->count++] = word;
    pthread_mutex_unlock(&queue->lock);
    if (wasEmpty) signalDescriptor(queue->descriptor);
}

void CControlQueueEnd(CControlQueue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->isEnding = true;
    // Under the lock, because the thread frees the queue when it has seen the end.
    signalDescriptor(queue->descriptor);
    pthread_mutex_unlock(&queue->lock);
}
