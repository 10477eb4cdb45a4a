// Composes the lines of a recording: JSON objects. Nothing here allocates memory or takes a lock.

#include "line.h"

#include <string.h>

/// The length in bytes at which strings and names are truncated.
enum { maximum_string = 4096, maximum_name = 256 };

static const char digits[] = "0123456789abcdef";

struct line {
    char *start;
    size_t length;
};

static void add(struct line *line, const char *bytes, size_t count) {
    memcpy(line->start + line->length, bytes, count);
    line->length += count;
}

#define ADD(line, literal) add(line, literal, sizeof(literal) - 1)

/// The digits of the numbers from 0 to 99.
static const char pairs[] = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
                            "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

static void add_number(struct line *line, uint64_t number) {
    char text[20];
    size_t offset = sizeof text;
    for (; number >= 100; number /= 100) memcpy(text + (offset -= 2), pairs + number % 100 * 2, 2);
    if (number >= 10) {
        memcpy(text + (offset -= 2), pairs + number * 2, 2);
    } else {
        text[--offset] = digits[number];
    }
    add(line, text + offset, sizeof text - offset);
}

static void add_hexadecimal(struct line *line, uint64_t number) {
    int shift = 60;
    while (shift > 0 && number >> shift == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) line->start[line->length++] = digits[number >> shift & 15];
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

static void add_escaped(struct line *line, const char *bytes, size_t count) {
    size_t offset = 0;
    for (uint64_t word; offset + sizeof word <= count; offset += sizeof word) {
        memcpy(&word, bytes + offset, sizeof word);
        if (!is_plain(word)) break;
        add(line, bytes + offset, sizeof word);
    }
    for (; offset < count; offset++) {
        unsigned char byte = (unsigned char)bytes[offset];
        if (byte == '"' || byte == '\\') {
            line->start[line->length++] = '\\';
        } else if (byte < 0x20 || byte == 0x7f) {
            ADD(line, "\\u00");
            line->start[line->length++] = digits[byte >> 4];
            byte = (unsigned char)digits[byte & 15];
        }
        line->start[line->length++] = (char)byte;
    }
}

/// Adds a string of at most so many bytes; a longer one is truncated between characters and ends with "…".
static void add_text(struct line *line, struct recorder_text text, size_t maximum) {
    size_t length = text.length;
    if (length > maximum) {
        length = maximum;
        while (length > 0 && ((unsigned char)text.start[length] & 0xc0) == 0x80) length--;
    }
    add_escaped(line, text.start, length);
    if (length < text.length) ADD(line, "…");
}

#define ADD_NUMBER(line, key, number) \
    do { \
        if (number) { \
            ADD(line, ",\"" key "\":"); \
            add_number(line, number); \
        } \
    } while (0)

#define ADD_HEXADECIMAL(line, key, number) \
    do { \
        ADD(line, ",\"" key "\":\""); \
        add_hexadecimal(line, number); \
        ADD(line, "\""); \
    } while (0)

#define ADD_TEXT(line, key, text) \
    do { \
        if ((text).start) { \
            ADD(line, ",\"" key "\":\""); \
            add_text(line, text, maximum_string); \
            ADD(line, "\""); \
        } \
    } while (0)

static size_t maximum_length(struct recorder_text text) {
    return text.length < maximum_string ? text.length * 6 : maximum_string * 6 + 8;
}

size_t recorder_maximum_length(const struct recorder_record *record) {
    const struct recorder_text texts[] = {
        record->stage,  record->name,   record->message,  record->file,  record->type, record->style,
        record->policy, record->reason, record->queue, record->at,   record->function,
    };
    size_t length = 1024 + record->counters.length;
    for (size_t index = 0; index < sizeof texts / sizeof *texts; index++) length += maximum_length(texts[index]);
    return length;
}

size_t recorder_write_beginning(char *start, uint64_t number, uint64_t nanoseconds) {
    struct line line = {start, 0};
    ADD(&line, "{\"n\":");
    add_number(&line, number);
    ADD(&line, ",\"t\":");
    add_number(&line, nanoseconds);
    return line.length;
}

size_t recorder_write_rest(char *start, const struct recorder_record *record) {
    struct line line = {start, 0};
    ADD(&line, ",\"thread\":");
    add_number(&line, record->thread.number);
    ADD_TEXT(&line, "stage", record->stage);
    ADD_TEXT(&line, "name", record->name);
    ADD_NUMBER(&line, "post", record->post);
    ADD_NUMBER(&line, "observer", record->observer);
    ADD_NUMBER(&line, "target", record->target.number);
    ADD_TEXT(&line, "message", record->message);
    ADD_TEXT(&line, "file", record->file);
    ADD_NUMBER(&line, "line", record->line);
    if (record->has_count) {
        ADD(&line, ",\"count\":");
        add_number(&line, record->count);
    }
    if (record->has_sender) ADD_HEXADECIMAL(&line, "sender", record->sender);
    ADD_TEXT(&line, "type", record->type);
    ADD_NUMBER(&line, "by", record->by);
    if (record->overtakes) ADD(&line, ",\"overtakes\":true");
    ADD_TEXT(&line, "style", record->style);
    ADD_TEXT(&line, "policy", record->policy);
    ADD_TEXT(&line, "reason", record->reason);
    ADD_NUMBER(&line, "signal", record->signal);
    if (record->counters.start) {
        ADD(&line, ",\"counters\":");
        add(&line, record->counters.start, record->counters.length);
    }
    if (record->foundation) ADD(&line, ",\"foundation\":true");
    if (record->center) ADD_HEXADECIMAL(&line, "center", record->center);
    ADD_TEXT(&line, "queue", record->queue);
    ADD_TEXT(&line, "at", record->at);
    ADD_TEXT(&line, "function", record->function);
    ADD(&line, "}\n");
    return line.length;
}

size_t recorder_write_record(
    char *start, uint64_t number, uint64_t nanoseconds, const struct recorder_record *record
) {
    size_t length = recorder_write_beginning(start, number, nanoseconds);
    return length + recorder_write_rest(start + length, record);
}

size_t recorder_write_event(
    char *start, uint64_t number, uint64_t nanoseconds, int32_t kernel_id, const char *stage, const char *reason,
    int signal
) {
    struct line line = {start, recorder_write_beginning(start, number, nanoseconds)};
    ADD_NUMBER(&line, "kernelID", (uint64_t)kernel_id);
    ADD(&line, ",\"stage\":\"");
    add(&line, stage, strlen(stage));
    if (reason) {
        ADD(&line, "\",\"reason\":\"");
        add(&line, reason, strlen(reason));
    }
    ADD(&line, "\"");
    ADD_NUMBER(&line, "signal", (uint64_t)signal);
    ADD(&line, "}\n");
    return line.length;
}

size_t recorder_write_header(
    char *start, int32_t process, struct recorder_text name, uint64_t number, uint64_t nanoseconds,
    uint64_t wall_nanoseconds
) {
    struct line line = {start, 0};
    ADD(&line, "{\"recording\":");
    add_number(&line, RECORDING_VERSION);
    ADD(&line, ",\"process\":");
    add_number(&line, (uint32_t)process);
    ADD(&line, ",\"name\":\"");
    add_text(&line, name, maximum_name);
    ADD(&line, "\",\"n\":");
    add_number(&line, number);
    ADD(&line, ",\"t\":");
    add_number(&line, nanoseconds);
    ADD(&line, ",\"wall\":");
    add_number(&line, wall_nanoseconds);
    ADD(&line, "}\n");
    return line.length;
}

size_t recorder_write_thread(char *start, const struct recorder_thread *thread) {
    struct line line = {start, 0};
    ADD(&line, "{\"thread\":");
    add_number(&line, thread->number);
    if (thread->name.start) {
        ADD(&line, ",\"name\":\"");
        add_text(&line, thread->name, maximum_name);
        ADD(&line, "\"");
    }
    ADD(&line, ",\"kernelID\":");
    add_number(&line, (uint32_t)thread->kernel_id);
    ADD(&line, "}\n");
    return line.length;
}

size_t recorder_write_unrecorded(char *start, const char *reason) {
    struct line line = {start, 0};
    ADD(&line, "{\"unrecorded\":\"");
    add_text(&line, (struct recorder_text){reason, strlen(reason)}, maximum_name);
    ADD(&line, "\"}\n");
    return line.length;
}
