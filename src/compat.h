/*
 * compat.h
 *	  Every difference between the supported PostgreSQL versions (15 to 18).
 *
 * Included first of all, in place of postgres.h.
 */
#ifndef FLUSS_COMPAT_H
#define FLUSS_COMPAT_H

#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_foreign_server.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "optimizer/pathnode.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "storage/latch.h"
#include "utils/selfuncs.h"
#include "utils/acl.h"
#include "utils/datetime.h"
#include "utils/wait_event.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#include "storage/waiteventset.h"
#endif

#ifndef HAVE_INT128
#error "fluss_fdw needs a 64-bit platform with 128-bit integers"
#endif

#if PG_VERSION_NUM < 150000
#error "fluss_fdw needs PostgreSQL 15 or newer"
#endif

/* 15 gives module functions no visibility of their own. */
#if PG_VERSION_NUM < 160000
#undef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#endif

/* create_foreignscan_path: 17 added fdw_restrictinfo, 18 disabled_nodes */
static inline ForeignPath *
fluss_create_foreignscan_path(PlannerInfo *root, RelOptInfo *rel, double rows,
							  Cost startup_cost, Cost total_cost,
							  List *pathkeys, Relids required_outer,
							  List *fdw_private)
{
#if PG_VERSION_NUM >= 180000
	return create_foreignscan_path(root, rel, NULL, rows, 0, startup_cost,
								   total_cost, pathkeys, required_outer, NULL,
								   NIL, fdw_private);
#elif PG_VERSION_NUM >= 170000
	return create_foreignscan_path(root, rel, NULL, rows, startup_cost,
								   total_cost, pathkeys, required_outer, NULL,
								   NIL, fdw_private);
#else
	return create_foreignscan_path(root, rel, NULL, rows, startup_cost,
								   total_cost, pathkeys, required_outer, NULL,
								   fdw_private);
#endif
}

/* create_foreign_upper_path: the same */
static inline ForeignPath *
fluss_create_foreign_upper_path(PlannerInfo *root, RelOptInfo *rel,
								PathTarget *target, double rows,
								Cost startup_cost, Cost total_cost,
								List *fdw_private)
{
#if PG_VERSION_NUM >= 180000
	return create_foreign_upper_path(root, rel, target, rows, 0, startup_cost,
									 total_cost, NIL, NULL, NIL, fdw_private);
#elif PG_VERSION_NUM >= 170000
	return create_foreign_upper_path(root, rel, target, rows, startup_cost,
									 total_cost, NIL, NULL, NIL, fdw_private);
#else
	return create_foreign_upper_path(root, rel, target, rows, startup_cost,
									 total_cost, NIL, NULL, fdw_private);
#endif
}

/* The user a scan acts as: 16 moved it from the range table to the plan. */
static inline Oid
fluss_scan_user(ForeignScan *plan, EState *estate)
{
	Oid			user;
#if PG_VERSION_NUM >= 160000
	user = plan->checkAsUser;
#else
	Index		rti = plan->scan.scanrelid > 0 ? plan->scan.scanrelid :
		(Index) bms_singleton_member(plan->fs_relids);

	user = exec_rt_fetch(rti, estate)->checkAsUser;
#endif
	return OidIsValid(user) ? user : GetUserId();
}

/* The same for the target of a modification. */
static inline Oid
fluss_modify_user(ResultRelInfo *rri, EState *estate)
{
	Oid			user;

#if PG_VERSION_NUM >= 160000
	user = ExecGetResultRelCheckAsUser(rri, estate);
#else
	Index		rti = rri->ri_RootResultRelInfo ?
		rri->ri_RootResultRelInfo->ri_RangeTableIndex : rri->ri_RangeTableIndex;

	user = rti > 0 ? exec_rt_fetch(rti, estate)->checkAsUser : InvalidOid;
	if (!OidIsValid(user))
		user = GetUserId();
#endif
	return user;
}

/* The same for an entry of the range table. */
static inline Oid
fluss_rte_user(RangeTblEntry *rte, EState *estate)
{
	Oid			user = InvalidOid;

#if PG_VERSION_NUM >= 160000
	if (rte->perminfoindex != 0)
		user = getRTEPermissionInfo(estate->es_rteperminfos, rte)->checkAsUser;
#else
	user = rte->checkAsUser;
#endif
	return OidIsValid(user) ? user : GetUserId();
}

/* The same for the target of a modification, at plan time. */
static inline Oid
fluss_target_user(PlannerInfo *root)
{
	RangeTblEntry *rte = rt_fetch(root->parse->resultRelation,
								  root->parse->rtable);
	Oid			user;

#if PG_VERSION_NUM >= 160000
	user = getRTEPermissionInfo(root->parse->rteperminfos, rte)->checkAsUser;
#else
	user = rte->checkAsUser;
#endif
	return OidIsValid(user) ? user : GetUserId();
}

/* The user a base relation is read as, at plan time. */
static inline Oid
fluss_rel_user(RelOptInfo *rel)
{
	return OidIsValid(rel->userid) ? rel->userid : GetUserId();
}

/* 16 put the checks of privileges on objects into one function */
static inline AclResult
fluss_server_aclcheck(Oid serverid, Oid user)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ForeignServerRelationId, serverid, user, ACL_USAGE);
#else
	return pg_foreign_server_aclcheck(serverid, user, ACL_USAGE);
#endif
}

static inline bool
fluss_table_ownercheck(Oid relid, Oid user)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relid, user);
#else
	return pg_class_ownercheck(relid, user);
#endif
}

/* DecodeDateTime: 16 added a place for details of errors */
static inline int
fluss_decode_datetime(char **field, int *ftype, int nf, int *dtype,
					  struct pg_tm *tm, fsec_t *fsec, int *tz)
{
#if PG_VERSION_NUM >= 160000
	DateTimeErrorExtra extra;

	return DecodeDateTime(field, ftype, nf, dtype, tm, fsec, tz, &extra);
#else
	return DecodeDateTime(field, ftype, nf, dtype, tm, fsec, tz);
#endif
}

/* RowCompareExpr: 18 renamed rctype, whose values stayed those of btree */
#if PG_VERSION_NUM >= 180000
#define fluss_row_compare_strategy(row) ((int) (row)->cmptype)
#else
#define fluss_row_compare_strategy(row) ((int) (row)->rctype)
#endif

/* 18 has generated columns that are not stored */
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
#define fluss_is_virtual(attr) \
	((attr)->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
#else
#define fluss_is_virtual(attr) false
#endif

/* 18 has other names for the direction of a pathkey */
#if PG_VERSION_NUM >= 180000
#define fluss_pathkey_descends(pathkey) ((pathkey)->pk_cmptype == COMPARE_GT)
#else
#define fluss_pathkey_descends(pathkey) \
	((pathkey)->pk_strategy == BTGreaterStrategyNumber)
#endif

/* 17 looks at statistics, too. */
#if PG_VERSION_NUM >= 170000
#define fluss_estimate_array_length(root, expr) \
	estimate_array_length((root), (expr))
#else
#define fluss_estimate_array_length(root, expr) \
	((double) estimate_array_length(expr))
#endif

#if PG_VERSION_NUM >= 170000
#define fluss_create_wait_event_set(n) CreateWaitEventSet(NULL, (n))
#else
#define fluss_create_wait_event_set(n) CreateWaitEventSet(TopMemoryContext, (n))
#endif

/* 16 lets a custom scan choose its scan tuple's slot: virtual, as before */
static inline void
fluss_use_virtual_slot(CustomScanState *css)
{
#if PG_VERSION_NUM >= 160000
	css->slotOps = &TTSOpsVirtual;
#endif
}

/*
 * 17 lets a custom path that replaces a join have core's gate for conditions
 * without variables; before, such a join cannot be replaced.
 */
#if PG_VERSION_NUM >= 170000
#define FLUSS_JOINS_HAVE_GATES true
#define fluss_set_join_conditions(path, conditions) \
	((path)->custom_restrictinfo = (conditions))
#else
#define FLUSS_JOINS_HAVE_GATES false
#define fluss_set_join_conditions(path, conditions) ((void) 0)
#endif

/* Actions of core's JSON parser: 16 made them return something */
#if PG_VERSION_NUM >= 160000
#define fluss_json_result JsonParseErrorType
#define FLUSS_JSON_SUCCESS JSON_SUCCESS
#else
#define fluss_json_result void
#define FLUSS_JSON_SUCCESS
#endif

/* 17 takes a lexer to fill in */
#if PG_VERSION_NUM >= 170000
#define fluss_json_lexer(json) makeJsonLexContext(NULL, (json), true)
#else
#define fluss_json_lexer(json) makeJsonLexContext((json), true)
#endif

#endif							/* FLUSS_COMPAT_H */
