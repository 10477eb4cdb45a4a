// The functions of NotificationCenter for typed messages. They do not use the center's vtable.

#include "recorder.h"

// Posts, of messages that are handled before the post returns and of others.

static struct post_scope begin_message(
    const void *type, const void *subject, const void *center, const void *call_site
) {
    struct recorder_record record = {
        .stage = TEXT("post"), .name = swift_type_name(type, true), .center = (uint64_t)center};
    describe_object(subject, &record);
    describe_call(call_site, &record);
    return begin_post(&record);
}

/// `OPTIONAL` keeps or drops the parameter and the argument of a message's subject.
#define DEFINE_POST(function, symbol, is_synchronous, OPTIONAL, object)                                           \
    SWIFT_CALL void function(                                                                                     \
        const void *message, OPTIONAL(void *subject, ) const void *type, const void *witnesses,                   \
        SWIFT_SELF void *center                                                                                   \
    ) INTERPOSE(CENTER symbol);                                                                                   \
    SWIFT_CALL void function(                                                                                     \
        const void *message, OPTIONAL(void *subject, ) const void *type, const void *witnesses,                   \
        SWIFT_SELF void *center                                                                                   \
    ) {                                                                                                           \
        __typeof__(function) *next = FIND_ORIGINAL(CENTER symbol);                                                \
        if (!is_recording()) {                                                                                    \
            next(message, OPTIONAL(subject, ) type, witnesses, center);                                           \
            return;                                                                                               \
        }                                                                                                         \
        struct post_scope scope = begin_message(type, object, center, __builtin_return_address(0));               \
        next(message, OPTIONAL(subject, ) type, witnesses, center);                                               \
        end_post(&scope, is_synchronous);                                                                         \
    }
#define KEEP(...) __VA_ARGS__
#define DROP(...)

DEFINE_POST(post_main_actor_message, "4postyyxAC16MainActorMessageRzlF", true, DROP, NULL)
DEFINE_POST(post_async_message, "4postyyxAC12AsyncMessageRzlF", false, DROP, NULL)
DEFINE_POST(
    post_main_actor_message_of, "4post_7subjectyx_7SubjectQztAC16MainActorMessageRzAGRLClF", true, KEEP, subject)
DEFINE_POST(post_async_message_of, "4post_7subjectyx_7SubjectQztAC12AsyncMessageRzAGRLClF", false, KEEP, subject)

// Observers of an object by identifier, of a type by identifier, and by message type. Each function returns an
// `ObservationToken`: the address of an object. If that is released, `destroy_handler` records the removal.

/// A registration of a typed message.
struct message_observer {
    const void *call_site;
    const void *type;
    const void *subject;
    const void *center;
    bool is_async;
};

/// Records a registration and replaces a handler of the program by a box. Returns the box; null if nothing is recorded.
static struct handler *register_message(
    const struct message_observer *observer, const void **function, void **context
) {
    if (!is_installed || this_thread.is_own_observer || (observer->is_async && call_async_handler == NULL)) return NULL;
    struct recorder_record record = {
        .stage = TEXT("register"), .name = swift_type_name(observer->type, true), .observer = new_observer_number(),
        .center = (uint64_t)observer->center};
    describe_object(observer->subject, &record);
    describe_call(observer->call_site, &record);
    append_record(&record);
    struct handler *handler = new_handler(HANDLER, *function, *context, record.observer, observer->center);
    handler->ends_with_token = true;
    *function = observer->is_async ? call_async_handler : (const void *)call_handler;
    *context = handler;
    return handler;
}

static void finish_registration(struct handler *handler, const void *token) {
    if (handler == NULL) return;
    set_token(handler, token);
    swift.release(handler);
}

#define OBSERVE_PARAMETERS(OPTIONAL)                                                                              \
    void *subject, const void *which, const void *function, void *context,                                        \
        OPTIONAL(const void *identifier_type, ) const void *type, OPTIONAL(const void *identifier_witnesses, )    \
        const void *witnesses, SWIFT_SELF void *center

/// `OPTIONAL` keeps or drops the parameters of an identifier; without one, `which` is the message type.
#define DEFINE_OBSERVE(observe, symbol, object, is_async, OPTIONAL)                                               \
    SWIFT_CALL void *observe(OBSERVE_PARAMETERS(OPTIONAL)) INTERPOSE(ADD symbol);                                 \
    SWIFT_CALL void *observe(OBSERVE_PARAMETERS(OPTIONAL)) {                                                      \
        __typeof__(observe) *next = FIND_ORIGINAL(ADD symbol);                                                    \
        struct message_observer observer = {__builtin_return_address(0), type, object, center, is_async};         \
        struct handler *handler = register_message(&observer, &function, &context);                               \
        void *token = next(                                                                                       \
            subject, which, function, context, OPTIONAL(identifier_type, ) type,                                  \
            OPTIONAL(identifier_witnesses, ) witnesses, center);                                                  \
        finish_registration(handler, token);                                                                      \
        return token;                                                                                             \
    }

#define ADD CENTER "11addObserver2of3for5usingAC16ObservationTokenV7Subject"

DEFINE_OBSERVE(
    observe_main_actor_object, "Qy__xyq_ScMYcctAC17MessageIdentifierRzAC09MainActorM0R_0M4TypeQzRs_AKRLCr0_lF", subject,
    false, KEEP)
DEFINE_OBSERVE(
    observe_main_actor_type, "Qy_m_xyq_ScMYcctAC17MessageIdentifierRzAC09MainActorM0R_0M4TypeQzRs_r0_lF", NULL, false,
    KEEP)
DEFINE_OBSERVE(observe_main_actor_message, "QzSg_xmyxScMYcctAC16MainActorMessageRzAKRLClF", subject, false, DROP)
DEFINE_OBSERVE(
    observe_async_object, "Qy__xyq_YaYbctAC17MessageIdentifierRzAC05AsyncM0R_0M4TypeQzRs_AKRLCr0_lF", subject, true,
    KEEP)
DEFINE_OBSERVE(
    observe_async_type, "Qy_m_xyq_YaYbctAC17MessageIdentifierRzAC05AsyncM0R_0M4TypeQzRs_r0_lF", NULL, true, KEEP)
DEFINE_OBSERVE(observe_async_message, "QzSg_xmyxYaYbctAC12AsyncMessageRzAKRLClF", subject, true, DROP)

#define REMOVE_TOKEN CENTER "14removeObserveryyAC16ObservationTokenVF"
typedef SWIFT_CALL void remove_token_function(void *token, SWIFT_SELF void *center);
remove_token_function remove_message_observer INTERPOSE(REMOVE_TOKEN);

SWIFT_CALL void remove_message_observer(void *token, SWIFT_SELF void *center) {
    remove_token_function *next = FIND_ORIGINAL(REMOVE_TOKEN);
    struct recorder_record record = {.stage = TEXT("remove"), .has_count = true, .reason = TEXT("cancelled")};
    bool is_first = true;
    record.observer = remove_token(token, center, &is_first);
    next(token, center);
    // A second removal of such a token has no effect.
    if (record.observer == 0 || !is_first) return;
    describe_call(__builtin_return_address(0), &record);
    append_record(&record);
}
