// What a recorder and the code that it records have in common. See the target CDeliveryRecorder.

#ifndef NOTIFICATION_RECORDER_H
#define NOTIFICATION_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A string without a final zero byte; `start` is null for no string.
struct recorder_text {
    const char *start;
    size_t length;
};

/// A thread, as in `ThreadIdentity`.
struct recorder_thread {
    uint64_t number;
    int32_t kernel_id;
    struct recorder_text name;
};

/// One record. A number that is 0, and a string that is null, is left out of the line.
struct recorder_record {
    struct recorder_text stage;
    const struct recorder_thread *thread;  // the calling thread
    const struct recorder_thread *target;
    struct recorder_text name;
    uint64_t post;
    uint64_t observer;
    struct recorder_text message;
    struct recorder_text file;
    uint64_t line;
    bool has_count;
    uint64_t count;
    bool has_sender;
    uint64_t sender;
    struct recorder_text type;
    uint64_t by;
    bool overtakes;
    struct recorder_text style;
    struct recorder_text policy;
    struct recorder_text reason;
    // Of Foundation's own API only.
    bool foundation;
    uint64_t center;                // the address of the notification center
    struct recorder_text queue;     // the operation queue of the observer
    struct recorder_text at;        // the call: MODULE+0xOFFSET
    struct recorder_text function;  // the function that calls, if it has a symbol: NAME+0xOFFSET
};

/// A recorder that was preloaded, or that DeliveryRecording started.
struct notification_recorder {
    uint32_t version;  // NOTIFICATION_RECORDER_VERSION

    /// Appends a record with the current time. Any thread; not in a signal handler.
    void (*append)(const struct recorder_record *record);
    /// Writes the identity of a thread again before its next record, because its name has changed.
    void (*forget_thread)(uint64_t number);

    /// Numbers that are unique in the process, from 1; threads from 2. Null if the caller counts itself, because nothing
    /// else records in the process.
    uint64_t (*next_post)(void);
    uint64_t (*next_observer)(void);
    uint64_t (*thread_number)(void);  // that of the calling thread; 1 is the main thread

    /// Calls `changed` now and whenever recording begins or ends.
    void (*watch)(void (*changed)(bool is_recording));

    // ProcessRecording. Null on success, otherwise the problem, which is valid until the next call on this thread.
    const char *(*start)(const char *path);
    const char *(*stop)(void);
    void (*flush)(void);
    const char *(*path)(void);  // null without a recording

    // How the library's own use of Foundation's center is recorded only once. For the calling thread; null if nothing
    // records Foundation's center.
    /// The next posts to Foundation's center until `end_queued_post` have this number and are recorded by the caller.
    void (*begin_queued_post)(uint64_t post);
    void (*end_queued_post)(void);
    /// Registrations and removals between these two calls are the library's own and are not recorded.
    void (*begin_unrecorded)(void);
    void (*end_unrecorded)(void);
    /// The number of the post to Foundation's center whose handler the thread runs, or 0.
    uint64_t (*current_post)(void);
};

#define NOTIFICATION_RECORDER_VERSION 1

#endif
