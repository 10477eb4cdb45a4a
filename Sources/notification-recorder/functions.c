// The functions of Foundation that programs call by their symbols. A preloaded library is searched first, so the
// functions here are called instead. They tell the methods of the center the call, the operation queue and the token.

#include "recorder.h"

// post(name:object:userInfo:), which optimized programs inline.

#define POST_NAME CENTER "0A0E4post4name6object8userInfoyAD14NSNotificationC4NameV_ypSgSDys11AnyHashableVypGSgtF"
typedef SWIFT_CALL void post_name_function(
    struct swift_string name, const struct swift_any *object, void *user_info, SWIFT_SELF void *center);
post_name_function post_name INTERPOSE(POST_NAME);

SWIFT_CALL void post_name(
    struct swift_string name, const struct swift_any *object, void *user_info, SWIFT_SELF void *center
) {
    post_name_function *next = FIND_ORIGINAL(POST_NAME);
    this_thread.call_site = __builtin_return_address(0);
    next(name, object, user_info, center);
    this_thread.call_site = NULL;
}

// addObserver(forName:object:queue:using:)

#define ADD_OBSERVER                                                                                      \
    CENTER "0A0E11addObserver7forName6object5queue5usingAD16NSObjectProtocol_pAD14NSNotificationC0H0VSg_" \
           "ypSgAD14OperationQueueCSgyAD0C0VYbctF"
typedef SWIFT_CALL struct swift_object add_observer_function(
    struct swift_string name, const struct swift_any *object, void *queue, swift_handler_function *function,
    void *context, SWIFT_SELF void *center);
add_observer_function add_observer INTERPOSE(ADD_OBSERVER);

SWIFT_CALL struct swift_object add_observer(
    struct swift_string name, const struct swift_any *object, void *queue, swift_handler_function *function,
    void *context, SWIFT_SELF void *center
) {
    add_observer_function *next = FIND_ORIGINAL(ADD_OBSERVER);
    struct thread_state *thread = &this_thread;
    if (!is_installed || thread->is_own_observer) return next(name, object, queue, function, context, center);

    struct registration registration = {0};
    char queue_address[20];
    if (queue != NULL) {
        registration.queue = queue_name(queue, queue_address);
        registration.queued = new_handler(QUEUED_HANDLER, function, context, new_observer_number(), center);
        function = call_handler;
        context = registration.queued;
    }
    thread->call_site = __builtin_return_address(0);
    thread->registration = &registration;
    struct swift_object token = next(name, object, queue, function, context, center);
    thread->registration = NULL;
    thread->call_site = NULL;
    if (registration.added != NULL) {
        set_token(registration.added, token.object);
        swift.release(registration.added);
    }
    if (registration.queued != NULL) swift.release(registration.queued);
    return token;
}

// removeObserver(_:), which optimized programs inline, and removeObserver(_:name:object:).

#define REMOVE_OBSERVER CENTER "0A0E14removeObserveryyypF"
typedef SWIFT_CALL void remove_observer_function(const struct swift_any *observer, SWIFT_SELF void *center);
remove_observer_function remove_any INTERPOSE(REMOVE_OBSERVER);

SWIFT_CALL void remove_any(const struct swift_any *observer, SWIFT_SELF void *center) {
    remove_observer_function *next = FIND_ORIGINAL(REMOVE_OBSERVER);
    this_thread.call_site = __builtin_return_address(0);
    this_thread.removed_token = object_in(observer);
    next(observer, center);
    this_thread.removed_token = NULL;
    this_thread.call_site = NULL;
}

#define REMOVE_OBSERVER_NAME CENTER "0A0E14removeObserver_4name6objectyyp_AD14NSNotificationC4NameVSgypSgtF"
typedef SWIFT_CALL void remove_observer_name_function(
    const struct swift_any *observer, struct swift_string name, const struct swift_any *object,
    SWIFT_SELF void *center);
remove_observer_name_function remove_name INTERPOSE(REMOVE_OBSERVER_NAME);

SWIFT_CALL void remove_name(
    const struct swift_any *observer, struct swift_string name, const struct swift_any *object, SWIFT_SELF void *center
) {
    remove_observer_name_function *next = FIND_ORIGINAL(REMOVE_OBSERVER_NAME);
    this_thread.call_site = __builtin_return_address(0);
    this_thread.removed_token = object_in(observer);
    next(observer, name, object, center);
    this_thread.removed_token = NULL;
    this_thread.call_site = NULL;
}
