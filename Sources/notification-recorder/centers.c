// The three methods of NotificationCenter's vtable, in which all of its functions end, except those for typed messages.

#include "recorder.h"

typedef SWIFT_CALL void post_function(
    struct swift_string name, const struct swift_any *sender, const void *message, const void *type,
    SWIFT_SELF void *center);
typedef SWIFT_CALL struct swift_observer_key add_function(
    struct swift_string name, const struct swift_any *sender, swift_handler_function *function, void *context,
    const void *type, SWIFT_SELF void *center);
typedef SWIFT_CALL void remove_function(struct swift_observer_key key, SWIFT_SELF void *center);

#define POST CENTER "5_post_7subject7messageySSSg_ypSgxtlF"
#define ADD CENTER "12_addObserver_6object5usingAC01_cF5TokenVSSSg_ypSgyxYbctlF"
#define REMOVE CENTER "15_removeObserveryyAC01_cF5TokenVF"

// The vtable of a program's own subclass refers to the symbols.
post_function post INTERPOSE(POST);
add_function add INTERPOSE(ADD);
remove_function remove_observer INTERPOSE(REMOVE);

struct method center_methods[3] = {
    {.metadata = CENTER "N", .symbol = POST, .replacement = (const void *)post},
    {.metadata = CENTER "N", .symbol = ADD, .replacement = (const void *)add},
    {.metadata = CENTER "N", .symbol = REMOVE, .replacement = (const void *)remove_observer},
};

SWIFT_CALL void post(
    struct swift_string name, const struct swift_any *sender, const void *message, const void *type,
    SWIFT_SELF void *center
) {
    const void *site = take_call_site(__builtin_return_address(0));
    post_function *next = FIND_ORIGINAL(POST);
    if (!is_recording()) {
        next(name, sender, message, type, center);
        return;
    }
    struct recorder_record record = {.stage = TEXT("post"), .name = swift_text(&name), .center = (uint64_t)center};
    describe_sender(sender, &record);
    describe_call(site, &record);
    struct post_scope scope = begin_post(&record);
    next(name, sender, message, type, center);
    end_post(&scope, true);
}

SWIFT_CALL struct swift_observer_key add(
    struct swift_string name, const struct swift_any *sender, swift_handler_function *function, void *context,
    const void *type, SWIFT_SELF void *center
) {
    const void *site = take_call_site(__builtin_return_address(0));
    add_function *next = FIND_ORIGINAL(ADD);
    struct registration *registration = this_thread.registration;
    this_thread.registration = NULL;
    if (!is_installed || this_thread.is_own_observer) return next(name, sender, function, context, type, center);

    struct recorder_record record = {.stage = TEXT("register"), .name = swift_text(&name), .center = (uint64_t)center};
    struct handler *queued = registration != NULL ? registration->queued : NULL;
    record.observer = queued != NULL ? queued->observer : new_observer_number();
    if (registration != NULL) record.queue = registration->queue;
    describe_sender(sender, &record);
    describe_call(site, &record);
    append_record(&record);

    struct handler *handler =
        new_handler(queued != NULL ? QUEUEING_HANDLER : HANDLER, function, context, record.observer, center);
    handler->queued = queued;
    struct swift_observer_key key = next(name, sender, call_handler, handler, type, center);
    if (registration != NULL) {
        registration->added = handler;
    } else {
        swift.release(handler);
    }
    return key;
}

SWIFT_CALL void remove_observer(struct swift_observer_key key, SWIFT_SELF void *center) {
    const void *site = take_call_site(__builtin_return_address(0));
    remove_function *next = FIND_ORIGINAL(REMOVE);
    struct recorder_record record = {.stage = TEXT("remove"), .has_count = true};
    const void *token = this_thread.removed_token;
    this_thread.removed_token = NULL;
    bool is_first = true;
    if (token != NULL && !this_thread.is_own_observer) record.observer = remove_token(token, center, &is_first);
    record.reason = is_first ? (struct recorder_text)TEXT("cancelled") : (struct recorder_text)TEXT("alreadyRemoved");
    describe_call(site, &record);
    // `destroy_handler` records the removal if the token is unknown, or is that of another observer.
    this_thread.call_site = site;
    next(key, center);
    this_thread.call_site = NULL;
    if (record.observer != 0) append_record(&record);
}
