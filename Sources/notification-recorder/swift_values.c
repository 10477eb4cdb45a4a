#include "recorder.h"

#include <stdlib.h>

struct recorder_text swift_text(const struct swift_string *string) {
    struct recorder_text none = {NULL, 0};
    uintptr_t object = string->object;
    if (object == 0) return none;
    // A small string is in the two words themselves, with its length in the last byte.
    if (object >> 61 & 1) return (struct recorder_text){(const char *)string, object >> 56 & 0xf};
    // Otherwise the object has the UTF-8 after a header of 32 bytes, if bit 60 of the flags says so. Strings that are
    // stored elsewhere do not occur in names on Linux.
    if ((object >> 60 & 1) || !(string->flags >> 60 & 1)) return none;
    return (struct recorder_text){
        (const char *)(object & 0x0fffffffffffffff) + 32, string->flags & 0xffffffffffff};
}

struct recorder_text swift_type_name(const void *type, bool is_qualified) {
    static struct address_table names[2];
    struct recorder_text none = {NULL, 0};
    if (type == NULL) return none;
    const struct recorder_text *known = address_table_value(&names[is_qualified], (uintptr_t)type);
    if (known != NULL) return *known;
    if (address_table_is_full(&names[is_qualified])) return swift.getTypeName(type, is_qualified);
    struct recorder_text *name = malloc(sizeof *name);
    if (name == NULL) return none;
    // The runtime never frees the name of a type.
    *name = swift.getTypeName(type, is_qualified);
    struct recorder_text result = *name;
    address_table_add(&names[is_qualified], (uintptr_t)type, name);
    return result;
}

static bool is_class(const void *type) {
    uintptr_t kind = *(const uintptr_t *)type;
    return kind == 0 || kind > SWIFT_LAST_KIND || kind == SWIFT_FOREIGN_CLASS_KIND;
}

const void *object_in(const struct swift_any *value) {
    if (value == NULL || value->type == NULL || !is_class(value->type)) return NULL;
    return (const void *)value->value[0];
}

void describe_sender(const struct swift_any *sender, struct recorder_record *record) {
    if (sender == NULL || sender->type == NULL) return;
    record->type = swift_type_name(sender->type, false);
    // Only an object has an identity: a copy of a value is as good as the value.
    record->sender = (uint64_t)object_in(sender);
    record->has_sender = record->sender != 0;
}

void describe_object(const void *object, struct recorder_record *record) {
    if (object == NULL) return;
    record->has_sender = true;
    record->sender = (uint64_t)object;
    record->type = swift_type_name(*(const void *const *)object, false);
}
