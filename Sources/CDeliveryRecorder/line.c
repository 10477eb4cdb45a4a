// Composes the lines of a recording: JSON objects. Nothing here allocates memory or takes a lock.
//
// Each `add` function takes the end of the text so far, and returns the new one.

#include "line.h"

#include <string.h>

/// The version of the schema. It grows when existing keys change their meaning, not when keys are added.
enum { schema_version = 3 };

/// The length in bytes at which strings and names are truncated.
enum { maximum_string = 4096, maximum_name = 256 };

static char *add(char *end, const char *bytes, size_t count) {
    memcpy(end, bytes, count);
    return end + count;
}

#define ADD(end, literal) add(end, literal, sizeof(literal) - 1)

static char *add_digits(char *end, uint64_t number, unsigned base) {
    char digits[20];
    size_t start = sizeof digits;
    do digits[--start] = "0123456789abcdef"[number % base];
    while ((number /= base) > 0);
    return add(end, digits + start, sizeof digits - start);
}

static char *add_number(char *end, uint64_t number) { return add_digits(end, number, 10); }

/// Adds the content of a JSON string of at most so many bytes; a longer one is truncated between characters and ends
/// with "…".
static char *add_text(char *end, struct recorder_text text, size_t maximum) {
    size_t length = text.length < maximum ? text.length : maximum;
    while (length < text.length && length > 0 && ((unsigned char)text.start[length] & 0xc0) == 0x80) length--;
    for (size_t offset = 0; offset < length; offset++) {
        const unsigned char byte = (unsigned char)text.start[offset];
        if (byte < 0x20 || byte == 0x7f) {
            end = ADD(end, "\\u00");
            if (byte < 0x10) *end++ = '0';
            end = add_digits(end, byte, 16);
        } else {
            if (byte == '"' || byte == '\\') *end++ = '\\';
            *end++ = (char)byte;
        }
    }
    return length < text.length ? ADD(end, "…") : end;
}

// The members of the object, with the comma before them. Without a value, nothing is added.

#define ADD_NUMBER(end, key, number) ((number) ? add_number(ADD(end, ",\"" key "\":"), number) : (end))

#define ADD_HEXADECIMAL(end, key, number) ADD(add_digits(ADD(end, ",\"" key "\":\""), number, 16), "\"")

#define ADD_TEXT(end, key, text) \
    ((text).start ? ADD(add_text(ADD(end, ",\"" key "\":\""), text, maximum_string), "\"") : (end))

size_t write_record(char *line, uint64_t number, uint64_t nanoseconds, const struct recorder_record *record) {
    char *end = add_number(ADD(line, "{\"n\":"), number);
    end = add_number(ADD(end, ",\"t\":"), nanoseconds);
    end = ADD_NUMBER(end, "thread", record->thread.number);
    if (record->thread.number == 0) end = ADD_NUMBER(end, "kernelID", (uint64_t)record->thread.kernel_id);
    end = ADD_TEXT(end, "stage", record->stage);
    end = ADD_TEXT(end, "name", record->name);
    end = ADD_NUMBER(end, "post", record->post);
    end = ADD_NUMBER(end, "observer", record->observer);
    end = ADD_NUMBER(end, "target", record->target.number);
    end = ADD_TEXT(end, "message", record->message);
    end = ADD_TEXT(end, "file", record->file);
    end = ADD_NUMBER(end, "line", record->line);
    if (record->has_count) end = add_number(ADD(end, ",\"count\":"), record->count);
    if (record->has_sender) end = ADD_HEXADECIMAL(end, "sender", record->sender);
    end = ADD_TEXT(end, "type", record->type);
    end = ADD_NUMBER(end, "by", record->by);
    if (record->overtakes) end = ADD(end, ",\"overtakes\":true");
    end = ADD_TEXT(end, "style", record->style);
    end = ADD_TEXT(end, "policy", record->policy);
    end = ADD_TEXT(end, "reason", record->reason);
    end = ADD_NUMBER(end, "signal", record->signal);
    end = ADD_TEXT(end, "origin", record->origin);
    if (record->foundation) end = ADD(end, ",\"foundation\":true");
    if (record->center) end = ADD_HEXADECIMAL(end, "center", record->center);
    end = ADD_TEXT(end, "queue", record->queue);
    end = ADD_TEXT(end, "at", record->at);
    end = ADD_TEXT(end, "function", record->function);
    return (size_t)(ADD(end, "}\n") - line);
}

size_t write_header(char *line, pid_t process, const char *name, uint64_t nanoseconds, uint64_t wall_nanoseconds) {
    char *end = add_number(ADD(line, "{\"recording\":"), schema_version);
    end = add_number(ADD(end, ",\"process\":"), (uint64_t)process);
    end = add_text(ADD(end, ",\"name\":\""), (struct recorder_text){name, strlen(name)}, maximum_name);
    end = add_number(ADD(end, "\",\"n\":1,\"t\":"), nanoseconds);
    end = ADD(add_number(ADD(end, ",\"wall\":"), wall_nanoseconds), "}");
    memset(end, ' ', LOSS_LENGTH);
    end[LOSS_LENGTH] = '\n';
    return (size_t)(end + LOSS_LENGTH + 1 - line);
}

void write_loss(char *line, uint64_t nanoseconds, uint64_t count) {
    memset(line, ' ', LOSS_LENGTH);
    char *end = add_number(ADD(line, "\n{\"t\":"), nanoseconds);
    ADD(add_number(ADD(end, ",\"stage\":\"lost\",\"count\":"), count), "}");
}

size_t write_thread(char *line, const struct recorder_thread *thread) {
    char *end = add_number(ADD(line, "{\"thread\":"), thread->number);
    if (thread->name.start) end = ADD(add_text(ADD(end, ",\"name\":\""), thread->name, maximum_name), "\"");
    end = add_number(ADD(end, ",\"kernelID\":"), (uint32_t)thread->kernel_id);
    if (thread->pool) end = ADD(end, ",\"pool\":true");
    return (size_t)(ADD(end, "}\n") - line);
}

size_t write_unrecorded(char *line, const char *reason) {
    const struct recorder_text text = {reason, strlen(reason)};
    return (size_t)(ADD(add_text(ADD(line, "{\"unrecorded\":\""), text, maximum_name), "\"}\n") - line);
}
