/*
 * admin_session.c
 *	  Functions about the connections of this session.
 */
#include "fluss_fdw.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

/* ------------------------------------------------------------ connections */

PG_FUNCTION_INFO_V1(fluss_fdw_get_connections);

PGDLLEXPORT Datum
fluss_fdw_get_connections(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FlussConnectionInfo *infos;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	infos = FlussConnections(&n);
	for (int i = 0; i < n; i++)
	{
		Datum		values[4];
		bool		nulls[4] = {false};

		nulls[0] = infos[i].server == NULL;
		if (!nulls[0])
			values[0] = CStringGetTextDatum(infos[i].server);
		nulls[1] = infos[i].user == NULL;
		if (!nulls[1])
			values[1] = CStringGetTextDatum(infos[i].user);
		values[2] = BoolGetDatum(infos[i].valid);
		values[3] = BoolGetDatum(infos[i].in_use);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(fluss_fdw_disconnect);

PGDLLEXPORT Datum
fluss_fdw_disconnect(PG_FUNCTION_ARGS)
{
	ForeignServer *server = GetForeignServerByName(NameStr(*PG_GETARG_NAME(0)),
												   false);

	PG_RETURN_BOOL(FlussDisconnect(server->serverid));
}

PG_FUNCTION_INFO_V1(fluss_fdw_disconnect_all);

PGDLLEXPORT Datum
fluss_fdw_disconnect_all(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(FlussDisconnect(InvalidOid));
}
