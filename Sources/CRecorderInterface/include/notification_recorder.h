// What a recorder and the code that it records have in common. The target CDeliveryRecorder implements it.
//
// A recorder that was preloaded into the process exports the function `threaded_notifications_recorder`. A program that
// records itself uses the recorder of the library DeliveryRecording.

#ifndef NOTIFICATION_RECORDER_H
#define NOTIFICATION_RECORDER_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A string in UTF-8 without a final zero byte; `start` is null for no string.
struct recorder_text {
    const char *start;
    size_t length;
};

/// A thread, as in `ThreadIdentity`.
struct recorder_thread {
    uint64_t number;
    int32_t kernel_id;
    struct recorder_text name;
    bool pool; // it belongs to a pool of Dispatch; false if that is not known
};

/// One record. A number that is 0, a string that is null, and a thread with the number 0 are left out of the line.
struct recorder_record {
    struct recorder_text stage;
    struct recorder_thread thread; // the calling thread
    struct recorder_thread target;
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
    uint64_t signal;
    struct recorder_text origin; // of a post to other processes: the poster's PROCESS-POST

    // Only of Foundation's own API.
    bool foundation;
    uint64_t center;               // the address of the notification center
    struct recorder_text queue;    // the operation queue of the observer
    struct recorder_text at;       // the call: MODULE+0xOFFSET
    struct recorder_text function; // the function that calls, if it has a symbol: NAME+0xOFFSET
};

#define NOTIFICATION_RECORDER_VERSION 3

/// A recorder. Every function may be called on any thread; `append` may be called in a signal handler too.
struct notification_recorder {
    uint32_t version;

    /// Appends a record with the current time, if the process is recorded.
    void (*append)(const struct recorder_record *record);

    /// Writes the identity of a thread again before its next record, because its name has changed.
    void (*forget_thread)(uint64_t number);

    /// Calls `changed` now, and whenever recording begins or ends.
    void (*watch)(void (*changed)(bool is_recording));

    /// Starts recording to a new or replaced file, and stops. If that fails, false, and the problem is copied to memory
    /// of `size` bytes.
    bool (*start)(const char *path, char *problem, size_t size);
    bool (*stop)(char *problem, size_t size);

    /// The file of the current recording, copied to memory of `size` bytes. False without a recording.
    bool (*copy_path)(char *path, size_t size);

    // Null if nothing but the library ThreadedNotifications is recorded; the library counts then.

    /// The next number of a post or an observer, from 1.
    uint64_t (*next_post)(void);
    uint64_t (*next_observer)(void);
    /// The number of the calling thread: 1 for the main thread, others from 2.
    uint64_t (*thread_number)(void);

    // For the calling thread, so that nothing is recorded twice.

    /// The library posts to a Foundation center until `end_queued_post`, and has recorded the post with this number.
    void (*begin_queued_post)(uint64_t post);
    void (*end_queued_post)(void);
    /// The library adds or removes an observer of its own at a Foundation center until `end_own_observer`.
    void (*begin_own_observer)(void);
    void (*end_own_observer)(void);
    /// The number of the post to a Foundation center whose handler the thread runs, or 0.
    uint64_t (*current_post)(void);
};

/// The recorder that was preloaded into the process, or null. It is looked up by its name, because a weak reference
/// from a program that was linked without the recorder stays null.
static inline const struct notification_recorder *NotificationRecorderFind(void) {
    const struct notification_recorder *(*find)(void) = NULL;
    *(void **)&find = dlsym(RTLD_DEFAULT, "threaded_notifications_recorder");
    const struct notification_recorder *recorder = find ? find() : NULL;
    return recorder && recorder->version == NOTIFICATION_RECORDER_VERSION ? recorder : NULL;
}

#endif
