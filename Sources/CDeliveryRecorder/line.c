// Composes the lines of a recording: JSON objects. Nothing here allocates memory or takes a lock.
//
// Each function takes the end of the text so far, and returns the new one. It may write up to 20 bytes behind that.

#include "line.h"

#include <string.h>

/// The length in bytes at which strings and names are truncated.
enum { maximum_string = 4096, maximum_name = 256 };

static char *add(char *end, const char *bytes, size_t count) {
    memcpy(end, bytes, count);
    return end + count;
}

#define ADD(end, literal) add(end, literal, sizeof(literal) - 1)

static char *add_number(char *end, uint64_t number) {
    static const char pairs[] =
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
        "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
    // Room for 20 bytes behind the digits, because copying a constant number of bytes is faster.
    char text[40];
    size_t offset = 20;
    for (; number >= 10; number /= 100) memcpy(text + (offset -= 2), pairs + number % 100 * 2, 2);
    if (number > 0 || offset == 20) text[--offset] = (char)('0' + number);
    memcpy(end, text + offset, 20);
    return end + (20 - offset);
}

static char hexadecimal(uint64_t digit) { return "0123456789abcdef"[digit & 15]; }

static char *add_hexadecimal(char *end, uint64_t number) {
    int shift = 60;
    while (shift > 0 && number >> shift == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) *end++ = hexadecimal(number >> shift);
    return end;
}

/// True if none of eight bytes is a control character, a quotation mark, a backslash or a delete character. The result
/// may be false although this is so, but never true although it is not.
static bool is_plain(uint64_t bytes) {
    const uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
#define HAS_ZERO(word) (((word) - ones) & ~(word) & highs)
    return !(
        ((bytes - ones * 0x20) & ~bytes & highs) | HAS_ZERO(bytes ^ ones * '"') | HAS_ZERO(bytes ^ ones * '\\')
        | HAS_ZERO(bytes ^ ones * 0x7f));
}

/// Adds the content of a JSON string.
static char *add_escaped(char *end, const char *bytes, size_t count) {
    size_t offset = 0;
    // Eight bytes at a time until one of them has to be escaped; at the end, together with some before them.
    while (count >= 8 && offset < count) {
        size_t word_offset = offset + 8 <= count ? offset : count - 8;
        uint64_t word;
        memcpy(&word, bytes + word_offset, sizeof word);
        if (!is_plain(word)) break;
        memcpy(end - (offset - word_offset), &word, sizeof word);
        end += word_offset + 8 - offset;
        offset = word_offset + 8;
    }
    for (; offset < count; offset++) {
        unsigned char byte = (unsigned char)bytes[offset];
        if (byte == '"' || byte == '\\') {
            *end++ = '\\';
        } else if (byte < 0x20 || byte == 0x7f) {
            end = ADD(end, "\\u00");
            *end++ = hexadecimal(byte >> 4);
            byte = (unsigned char)hexadecimal(byte);
        }
        *end++ = (char)byte;
    }
    return end;
}

/// Adds a string of at most so many bytes; a longer one is truncated between characters and ends with "…".
static char *add_text(char *end, struct recorder_text text, size_t maximum) {
    size_t length = text.length;
    if (length > maximum) {
        length = maximum;
        while (length > 0 && ((unsigned char)text.start[length] & 0xc0) == 0x80) length--;
    }
    end = add_escaped(end, text.start, length);
    return length < text.length ? ADD(end, "…") : end;
}

// The members of the object, with the comma before them. Without a value, nothing is added.

#define ADD_NUMBER(end, key, number) ((number) ? add_number(ADD(end, ",\"" key "\":"), number) : (end))

#define ADD_HEXADECIMAL(end, key, number) ADD(add_hexadecimal(ADD(end, ",\"" key "\":\""), number), "\"")

#define ADD_TEXT(end, key, text) \
    ((text).start ? ADD(add_text(ADD(end, ",\"" key "\":\""), text, maximum_string), "\"") : (end))

static size_t maximum_length(struct recorder_text text) {
    return text.length < maximum_string ? text.length * 6 : maximum_string * 6 + 8;
}

size_t recorder_maximum_length(const struct recorder_record *record) {
    const struct recorder_text texts[] = {
        record->stage,  record->name,   record->message, record->file, record->type,     record->style,
        record->policy, record->reason, record->queue,   record->at,   record->function, record->origin,
    };
    size_t length = 1024;
    for (size_t index = 0; index < sizeof texts / sizeof *texts; index++) length += maximum_length(texts[index]);
    return length;
}

size_t recorder_write_beginning(char *line, uint64_t number, uint64_t nanoseconds) {
    char *end = add_number(ADD(line, "{\"n\":"), number);
    return (size_t)(add_number(ADD(end, ",\"t\":"), nanoseconds) - line);
}

size_t recorder_write_rest(char *line, const struct recorder_record *record) {
    char *end = ADD_NUMBER(line, "thread", record->thread.number);
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

size_t recorder_write_record(
    char *line, uint64_t number, uint64_t nanoseconds, const struct recorder_record *record
) {
    size_t length = recorder_write_beginning(line, number, nanoseconds);
    return length + recorder_write_rest(line + length, record);
}

size_t recorder_write_event(char *rest, int32_t kernel_id, const char *stage, uint64_t count, const char *reason) {
    char *end = ADD_NUMBER(rest, "kernelID", (uint64_t)kernel_id);
    end = ADD(add(ADD(end, ",\"stage\":\""), stage, strlen(stage)), "\"");
    end = ADD_NUMBER(end, "count", count);
    if (reason) end = ADD(add(ADD(end, ",\"reason\":\""), reason, strlen(reason)), "\"");
    return (size_t)(ADD(end, "}\n") - rest);
}

size_t recorder_write_header(
    char *line, int32_t process, struct recorder_text name, uint64_t number, uint64_t nanoseconds,
    uint64_t wall_nanoseconds
) {
    char *end = add_number(ADD(line, "{\"recording\":"), RECORDING_VERSION);
    end = add_number(ADD(end, ",\"process\":"), (uint32_t)process);
    end = add_text(ADD(end, ",\"name\":\""), name, maximum_name);
    end = add_number(ADD(end, "\",\"n\":"), number);
    end = add_number(ADD(end, ",\"t\":"), nanoseconds);
    end = add_number(ADD(end, ",\"wall\":"), wall_nanoseconds);
    return (size_t)(ADD(end, "}\n") - line);
}

size_t recorder_write_thread(char *line, const struct recorder_thread *thread) {
    char *end = add_number(ADD(line, "{\"thread\":"), thread->number);
    if (thread->name.start) end = ADD(add_text(ADD(end, ",\"name\":\""), thread->name, maximum_name), "\"");
    end = add_number(ADD(end, ",\"kernelID\":"), (uint32_t)thread->kernel_id);
    if (thread->pool) end = ADD(end, ",\"pool\":true");
    return (size_t)(ADD(end, "}\n") - line);
}

size_t recorder_write_unrecorded(char *line, const char *reason) {
    struct recorder_text text = {reason, strlen(reason)};
    return (size_t)(ADD(add_text(ADD(line, "{\"unrecorded\":\""), text, maximum_name), "\"}\n") - line);
}
