// A table from addresses to values that are computed once and never change. It has no lock.

#ifndef ADDRESS_TABLE_H
#define ADDRESS_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define ADDRESS_TABLE_CAPACITY 8192

struct address_table {
    struct {
        _Atomic(uintptr_t) key;
        _Atomic(const void *) value;
    } entries[ADDRESS_TABLE_CAPACITY];
    atomic_uint count;
};

/// The value of a key, or null.
const void *address_table_value(struct address_table *table, uintptr_t key);

/// True if the table accepts no more keys.
bool address_table_is_full(struct address_table *table);

/// Adds a value, unless the key is there or the table is full.
void address_table_add(struct address_table *table, uintptr_t key, const void *value);

#pragma GCC visibility pop

#endif
