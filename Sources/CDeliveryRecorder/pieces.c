#define _GNU_SOURCE
#include "pieces.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lock.h"

enum {
    piece_count = 16,
    /// Threads with higher numbers are identified before each of their records.
    thread_count = 1 << 20,
    piece_size = 1 << 18,
    /// The largest page of a system.
    maximum_page = 1 << 16,
    /// Room for the records of a loss, of a second one at the end, and of the end.
    reserve = 512,
};

// The state of a piece in one word: its used length in the low bits, a bit that is set while it takes no lines, and the
// number of the next record.
enum { length_bits = 23, number_shift = length_bits + 1 };
static const uint64_t length_mask = (1 << length_bits) - 1, is_sealed = 1 << length_bits;

struct piece {
    _Alignas(64) _Atomic uint64_t state;
    /// The number of threads that may use the mapping. While it is not 0, the mapping stays.
    _Atomic unsigned users;
    atomic_bool has_loss;
};

struct mapping {
    char *start;
    size_t size;
    /// The offset of the start in the file.
    off_t offset;
};

struct shared {
    // A copy of the process finds these empty, also a copy that no hook saw.
    bool is_original;
    /// Null if no file is open.
    _Atomic(struct piece *) current;
    struct piece pieces[piece_count];
    /// True if the file identifies the thread with this number. Begins a page.
    _Alignas(maximum_page) atomic_bool is_identified[thread_count];

    // A copy of the process keeps this, because a signal handler that forks may have interrupted an append, which
    // continues in the copy. Begins a page. Changed with the lock; the users of a piece read its mapping without.
    _Alignas(maximum_page) struct mapping mappings[piece_count];
};

static _Atomic(struct shared *) shared;
static struct destination *destination;
static int last_error;

/// The number of appends of this thread that have begun and not ended: several, if a signal handler appends.
static __thread unsigned depth __attribute__((tls_model("initial-exec")));

uint64_t monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int pieces_error(void) { return last_error; }

// MARK: Appending

/// The current piece, which keeps its mapping until `leave`; null if no file is open.
static struct piece *enter(struct shared *memory) {
    struct piece *piece;
    while ((piece = atomic_load(&memory->current))) {
        atomic_fetch_add(&piece->users, 1);
        // If it was replaced before the addition, it may be unmapped.
        if (atomic_load(&memory->current) == piece) return piece;
        atomic_fetch_sub(&piece->users, 1);
    }
    return NULL;
}

static void leave(struct piece *piece) { atomic_fetch_sub_explicit(&piece->users, 1, memory_order_release); }

static struct mapping *mapping_of(struct shared *memory, struct piece *piece) {
    return &memory->mappings[piece - memory->pieces];
}

static atomic_bool *identified(struct shared *memory, const struct recorder_thread *thread) {
    if (!thread || thread->number == 0 || thread->number >= thread_count) return NULL;
    return &memory->is_identified[thread->number];
}

static bool lacks_identity(struct shared *memory, const struct recorder_thread *thread) {
    if (!thread || thread->number == 0) return false;
    atomic_bool *is_known = identified(memory, thread);
    return !is_known || !atomic_load_explicit(is_known, memory_order_acquire);
}

/// Composes the identities of threads that the file does not have.
static size_t write_identities(struct shared *memory, const struct lines *lines, char *text) {
    size_t length = 0;
    for (int index = 0; index < 2; index++) {
        const struct recorder_thread *thread = lines->threads[index];
        if (!lacks_identity(memory, thread)) continue;
        if (index == 1 && lines->threads[0] && thread->number == lines->threads[0]->number) continue;
        struct recorder_thread named = *thread;
        char name[16];
        if (!named.name.start && !named.pool) named.name = kernel_name(named.kernel_id, name);
        length += recorder_write_thread(text + length, &named);
    }
    return length;
}

static void note_identities(struct shared *memory, const struct lines *lines) {
    for (int index = 0; index < 2; index++) {
        atomic_bool *is_known = identified(memory, lines->threads[index]);
        if (is_known) atomic_store_explicit(is_known, true, memory_order_release);
    }
}

/// Copies lines so that, if the process dies meanwhile, the next line is not part of them, and lines without NUL bytes
/// are complete.
static void copy(char *place, const char *const parts[3], const size_t lengths[3]) {
    *(volatile char *)(place + lengths[0] + lengths[1] + lengths[2] - 1) = '\n';
    atomic_signal_fence(memory_order_seq_cst);
    size_t offset = 0;
    for (int index = 0; index < 3; index++) {
        const size_t skipped = offset == 0 && lengths[index] > 0 ? 1 : 0;
        memcpy(place + offset + skipped, parts[index] + skipped, lengths[index] - skipped);
        offset += lengths[index];
    }
    // Every line begins with it.
    atomic_signal_fence(memory_order_seq_cst);
    *(volatile char *)place = '{';
}

/// False if the piece has no room for the lines.
static bool append_to(struct shared *memory, struct piece *piece, const struct lines *lines) {
    if (lines->kind == first_loss && atomic_load(&piece->has_loss)) return false;
    const struct mapping *mapping = mapping_of(memory, piece);
    const size_t capacity = mapping->size - (lines->kind == any_piece ? reserve : 0);
    const bool lacks = lacks_identity(memory, lines->threads[0]) || lacks_identity(memory, lines->threads[1]);
    // Threads may have small stacks.
    char identities[lacks ? 2 * RECORDER_MAXIMUM_HEADER : 1], beginning[MAXIMUM_BEGINNING + 20];
    const char *const parts[] = {identities, beginning, lines->rest};
    size_t lengths[] = {lacks ? write_identities(memory, lines, identities) : 0, 0, lines->length};
    uint64_t state = atomic_load_explicit(&piece->state, memory_order_acquire), next;
    do {
        // In a copy of the process that a signal handler made meanwhile.
        if (state >> number_shift == 0) return false;
        if (lines->is_record) {
            lengths[1] = recorder_write_beginning(beginning, state >> number_shift, monotonic_nanoseconds());
        }
        size_t length = lengths[0] + lengths[1] + lengths[2];
        if (state & is_sealed || (state & length_mask) + length > capacity) return false;
        next = state + length + ((uint64_t)lines->is_record << number_shift);
        if (lines->kind == the_end) next |= is_sealed;
    } while (!atomic_compare_exchange_weak_explicit(
        &piece->state, &state, next, memory_order_acq_rel, memory_order_acquire));
    copy(mapping->start + (state & length_mask), parts, lengths);
    if (lengths[0] > 0) note_identities(memory, lines);
    if (lines->kind == first_loss) atomic_store(&piece->has_loss, true);
    return true;
}

static bool extend(struct shared *memory, struct piece *full, size_t length);

static enum append_result append(const struct lines *lines) {
    for (;;) {
        struct shared *memory = atomic_load_explicit(&shared, memory_order_acquire);
        struct piece *piece = memory ? enter(memory) : NULL;
        if (!piece) return not_open;
        bool is_appended = append_to(memory, piece, lines);
        leave(piece);
        if (is_appended) return appended;
        if (!memory->is_original) return not_open;
        if (lines->kind != any_piece) return no_room;
        if (!extend(memory, piece, lines->length + MAXIMUM_BEGINNING + 2 * RECORDER_MAXIMUM_HEADER)) return no_room;
    }
}

enum append_result pieces_append(const struct lines *lines) {
    depth++;
    atomic_signal_fence(memory_order_seq_cst);
    enum append_result result = append(lines);
    atomic_signal_fence(memory_order_seq_cst);
    depth--;
    return result;
}

void pieces_forget_thread(uint64_t number) {
    struct shared *memory = atomic_load_explicit(&shared, memory_order_acquire);
    if (memory && number < thread_count) {
        atomic_store_explicit(&memory->is_identified[number], false, memory_order_release);
    }
}

// MARK: The file

/// Makes room in the file and in memory for lines from an offset on. Returns the system's error number, or 0.
static int map(struct mapping *mapping, off_t offset, size_t length) {
    // Mappings begin at a page: this one shares a page with the previous one.
    size_t before = (size_t)(offset % sysconf(_SC_PAGESIZE));
    size_t most = before + length + reserve > piece_size ? before + length + reserve : piece_size;
    if (most > length_mask) return EFBIG;
    mapping->offset = offset - (off_t)before;
    int error = destination_reserve(destination, mapping->offset, before + length + reserve, most, &mapping->size);
    if (error) return error;
    char *start = mmap(
        NULL, mapping->size, PROT_READ | PROT_WRITE, MAP_SHARED, destination->descriptor, mapping->offset);
    if (start == MAP_FAILED) return errno;
    mapping->start = start;
    return 0;
}

static void unmap(struct mapping *mapping) {
    if (mapping->start) munmap(mapping->start, mapping->size);
    mapping->start = NULL;
}

static off_t end_offset(const struct mapping *mapping, uint64_t state) {
    return mapping->offset + (off_t)(state & length_mask);
}

/// Unmaps the pieces that no thread uses, except the current one.
static void unmap_unused(struct shared *memory) {
    struct piece *current = atomic_load(&memory->current);
    for (int index = 0; index < piece_count; index++) {
        struct piece *piece = &memory->pieces[index];
        if (piece != current && atomic_load(&piece->users) == 0) unmap(&memory->mappings[index]);
    }
}

/// A piece without a mapping; null if threads that are suspended while they append use all others.
static struct piece *unused_piece(struct shared *memory) {
    unmap_unused(memory);
    for (int index = 0; index < piece_count; index++) {
        if (!memory->mappings[index].start) return &memory->pieces[index];
    }
    return NULL;
}

/// Makes a piece with a mapping the current one.
static void publish(struct shared *memory, struct piece *piece, uint64_t state) {
    atomic_store(&piece->has_loss, false);
    atomic_store(&piece->state, state);
    atomic_store(&memory->current, piece);
}

/// Replaces a piece that has no room for so many bytes. False if the system gives no room.
static bool extend(struct shared *memory, struct piece *full, size_t length) {
    struct lock_holder holder = lock_take();
    // Otherwise another thread has done so.
    if (atomic_load(&memory->current) == full) {
        struct piece *next = unused_piece(memory);
        const uint64_t state = atomic_fetch_or(&full->state, is_sealed);
        const off_t end = end_offset(mapping_of(memory, full), state);
        const int error = next ? map(mapping_of(memory, next), end, length) : EAGAIN;
        if (error) {
            last_error = error;
            // Shorter lines may have room.
            atomic_fetch_and(&full->state, ~is_sealed);
            lock_release(&holder);
            return false;
        }
        const uint64_t used = (uint64_t)(end - mapping_of(memory, next)->offset);
        publish(memory, next, state >> number_shift << number_shift | used);
        unmap_unused(memory);
        destination_lock(destination);
    }
    lock_release(&holder);
    return true;
}

// MARK: Beginning and end

static unsigned users(struct shared *memory) {
    unsigned count = 0;
    for (int index = 0; index < piece_count; index++) count += atomic_load(&memory->pieces[index].users);
    return count;
}

/// Memory without identities; null if there is none. That of the previous recording stays, if a thread is suspended in
/// an append to it.
static struct shared *new_memory(void) {
    struct shared *memory = atomic_load(&shared);
    if (memory && users(memory) == 0) {
        const size_t size = sizeof memory->is_identified;
        // Empties the pages without touching them.
        if (madvise(memory->is_identified, size, MADV_DONTNEED) != 0) memset(memory->is_identified, 0, size);
        return memory;
    }
    memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    // Old kernels do not know it. Then only copies that a hook sees leave the file alone.
    (void)madvise(memory, offsetof(struct shared, mappings), MADV_WIPEONFORK);
    memory->is_original = true;
    atomic_store_explicit(&shared, memory, memory_order_release);
    return memory;
}

int pieces_begin(struct destination *new_destination, const char *header, size_t length) {
    destination = new_destination;
    struct shared *memory = new_memory();
    struct piece *first = memory ? unused_piece(memory) : NULL;
    if (!first) return ENOMEM;
    struct mapping *mapping = mapping_of(memory, first);
    int error = map(mapping, destination->offset, length);
    if (error) return error;
    const size_t before = (size_t)(destination->offset - mapping->offset);
    memcpy(mapping->start + before, header, length);
    publish(memory, first, (uint64_t)1 << number_shift | (before + length));
    return 0;
}

void pieces_end(void) {
    struct shared *memory = atomic_load(&shared);
    struct piece *last = atomic_load(&memory->current);
    const uint64_t state = atomic_fetch_or(&last->state, is_sealed);
    const off_t end = end_offset(mapping_of(memory, last), state);
    atomic_store(&memory->current, NULL);
    // A signal handler that exits may have interrupted appends of this thread, which do not continue.
    for (int round = 0; round < 10000 && users(memory) > depth; round++) usleep(100);
    unmap_unused(memory);
    destination_truncate(destination, end);
}

bool pieces_are_originals(void) {
    struct shared *memory = atomic_load_explicit(&shared, memory_order_acquire);
    return !memory || memory->is_original;
}

void pieces_leave_to_original(void) {
    // The memory stays: an interrupted function may use it.
    struct shared *memory = atomic_exchange(&shared, NULL);
    for (int index = 0; memory && index < piece_count; index++) {
        struct mapping *mapping = &memory->mappings[index];
        if (depth == 0) {
            unmap(mapping);
        } else if (mapping->start) {
            mmap(
                mapping->start, mapping->size, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        }
    }
}
