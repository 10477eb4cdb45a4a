// What a record says of Swift values: strings, types and senders.

#ifndef SWIFT_VALUES_H
#define SWIFT_VALUES_H

#include <stdbool.h>

#include <notification_recorder.h>
#include "swift_abi.h"

#pragma GCC visibility push(hidden)

/// The UTF-8 of a string; null for nil. It refers to the string itself.
struct recorder_text swift_text(const struct swift_string *string);

/// The name of a type, as `String(describing:)`, or as `_typeName` if it is qualified.
struct recorder_text swift_type_name(const void *type, bool is_qualified);

/// Fills in sender and type of a record.
void describe_sender(const struct swift_any *sender, struct recorder_record *record);
void describe_object(const void *object, struct recorder_record *record);

/// The object in a value; null for nil and for other values.
const void *object_in(const struct swift_any *value);

#pragma GCC visibility pop

#endif
