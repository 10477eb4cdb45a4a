#include "recorder.h"

static unsigned first_index(uintptr_t key) {
    return (unsigned)((key * 0x9e3779b97f4a7c15u) >> 40) % ADDRESS_TABLE_CAPACITY;
}

const void *address_table_value(struct address_table *table, uintptr_t key) {
    for (unsigned index = first_index(key);; index = (index + 1) % ADDRESS_TABLE_CAPACITY) {
        uintptr_t found = atomic_load_explicit(&table->entries[index].key, memory_order_acquire);
        // A key whose value is not stored yet has no value for this caller.
        if (found == key) return atomic_load_explicit(&table->entries[index].value, memory_order_acquire);
        if (found == 0) return NULL;
    }
}

#define MAXIMUM_COUNT (ADDRESS_TABLE_CAPACITY / 4 * 3)

bool address_table_is_full(struct address_table *table) {
    return atomic_load_explicit(&table->count, memory_order_relaxed) >= MAXIMUM_COUNT;
}

void address_table_add(struct address_table *table, uintptr_t key, const void *value) {
    // The reservation bounds the number of keys, so that a search always ends at an empty entry.
    if (atomic_fetch_add(&table->count, 1) >= MAXIMUM_COUNT) {
        atomic_fetch_sub(&table->count, 1);
        return;
    }
    for (unsigned index = first_index(key);; index = (index + 1) % ADDRESS_TABLE_CAPACITY) {
        uintptr_t found = 0;
        if (atomic_compare_exchange_strong(&table->entries[index].key, &found, key)) {
            atomic_store_explicit(&table->entries[index].value, value, memory_order_release);
            return;
        }
        if (found == key) {
            atomic_fetch_sub(&table->count, 1);
            return;
        }
    }
}
