#ifndef FOUNDATION_STAND_IN_H
#define FOUNDATION_STAND_IN_H

#include <notification_recorder.h>
#include <stdbool.h>
#include <swift_abi.h>

#define SYMBOL(name) __asm__(name)
#define CENTER "$s20FoundationEssentials18NotificationCenterC"

void *swift_allocObject(const void *metadata, size_t size, size_t alignment_mask);
void *swift_retain(void *object);
void swift_release(void *object);

typedef SWIFT_CALL struct swift_observer_key add_function(
    struct swift_string name, const struct swift_any *sender, swift_handler_function *function, void *context,
    const void *type, SWIFT_SELF void *center);
typedef SWIFT_CALL void remove_function(struct swift_observer_key key, SWIFT_SELF void *center);
typedef SWIFT_CALL void post_function(
    struct swift_string name, const struct swift_any *sender, const void *message, const void *type,
    SWIFT_SELF void *center);

add_function add SYMBOL(CENTER "12_addObserver_6object5usingAC01_cF5TokenVSSSg_ypSgyxYbctlF");
remove_function remove_key SYMBOL(CENTER "15_removeObserveryyAC01_cF5TokenVF");
post_function post SYMBOL(CENTER "5_post_7subject7messageySSSg_ypSgxtlF");

/// The metadata of NotificationCenter.
struct vtable {
    uintptr_t kind;
    const void *superclass;
    post_function *post;
    add_function *add;
    post_function *other;
    remove_function *remove;
};
extern struct vtable vtable SYMBOL(CENTER "N");

SWIFT_CALL struct swift_object add_observer(
    struct swift_string name, const struct swift_any *object, void *queue, swift_handler_function *function,
    void *context, SWIFT_SELF void *center)
    SYMBOL(CENTER "0A0E11addObserver7forName6object5queue5usingAD16NSObjectProtocol_pAD14NSNotificationC0H0VSg_ypSg"
                  "AD14OperationQueueCSgyAD0C0VYbctF");
SWIFT_CALL void remove_observer(const struct swift_any *observer, SWIFT_SELF void *center)
    SYMBOL(CENTER "0A0E14removeObserveryyypF");

#endif
